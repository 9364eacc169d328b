"""Serving tools to any agent over the Model Context Protocol (extra `mcp`).

From the outside in:

- `serve`: over stdin and stdout, or HTTP; `principals`: who calls, from the file of `--access`.
- `protocol`: the meta-tools, for clients of the 2025 and the 2026 revision.
- `gateway`: sessions, searches, calls; what the protocol and any other surface use;
  `search`: searching and binding the results; `permissions`: which tools may be used;
  `answers`: responses to the model.
- `remote`: other ctrag servers searched as well; `marketplace`: plugins to install.
- `servers`: the servers behind the tools, listed into the index and called through it;
  `config`: the file that names them; `upstream`: one of them, kept connected;
  `transport`: the connection to it; `untrusted`: its definitions checked, cut and marked.
"""

from ctrag.extras import need

need("serving MCP", "mcp", "jsonschema", "jwt", "uvicorn", extra="mcp")
