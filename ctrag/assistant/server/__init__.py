"""One person's assistant behind the front ends of others.

- `door`: the conversations of one assistant, one turn at a time, for any front end.
- `told`: an answer as text for a terminal, a model, or a page that reads Markdown.
- `mcp_tools`: `ask`, `find_items` and `undo` over MCP.
- `remembered`: conversations that are known by the messages that a client sends.
- `side_tasks`: what chat pages ask of a model for themselves.
- `problems`: errors in the form of OpenAI's API.
- `chat`: the chat endpoint of OpenAI's API.
- `access`: the file of tokens; `serve` runs all of it.
"""
