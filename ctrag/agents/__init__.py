"""For any agent with many tools: search, sessions, prompts, the next tool, and serving.

Each part is usable alone; none knows of a person's applications.

- `catalogue`: tools read from files, OpenAPI documents, functions; who may see them; their forms
  for
  model APIs.
- `search`: search in a catalogue (`ToolIndex`).
- `next_tool`: the next tool from the request and the calls so far (`NextTool`).
- `prompt`: the smallest prompt that still does a step (`PromptBuilder`).
- `session`: an agent's list of tools kept short (`ToolSession`).
- `calls`: one call of any tool, planned by the small language model.
- `server`, `integrations`: over the Model Context Protocol, and as LangChain middleware.
"""
