"""Surfaces for other frameworks.

- `formats`: tools as OpenAI's and Anthropic's APIs take them, their client-side tool search among
  them.
- `surfacing`: which hits of a search an agent is given.
- `langchain`: a middleware for LangChain 1.x agents (extra `langchain`); imported by name, as it
  needs the library.
"""
