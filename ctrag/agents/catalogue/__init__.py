"""Tools of any agent as data.

- `tool`: a tool (`CatalogueTool`) and catalogue files; `files`, `sources`: tools read from files,
  OpenAPI documents, functions, LangChain.
- `access`: who may see which tool, and configured agents.
- `formats`: tools as the APIs of OpenAI and Anthropic and MCP take them.
"""
