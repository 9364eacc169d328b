"""Surfaces for other frameworks.

- `langchain`, `langchain_prompts`: middlewares for LangChain 1.x agents (extra `langchain`): one
  finds tools, one makes the prompt smaller; imported by name, as they need the library.
"""
