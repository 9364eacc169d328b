"""Tools of any agent as data.

- `tool`: a tool (`CatalogueTool`) and catalogue files; `files`, `sources`: tools read from files,
  OpenAPI documents, functions, LangChain.
- `access`: who may see which tool, and configured agents.
- `formats`: tools in the formats of the OpenAI and Anthropic APIs and of MCP.
"""
