"""Serving tools to any agent over the Model Context Protocol (extra `mcp`).

From the outside in:

- `serve`: over stdin and stdout, or HTTP; `principals`: who calls, from the file of `--access`.
- `protocol`: the meta-tools, for clients of the 2025 and the 2026 revision.
- `gateway`: sessions, searches, calls; what the protocol and any other surface use;
  `search`: what fits and what of it a session gets; `permissions`: what may be used;
  `answers`: what a model is told.
- `federation`: other ctrag servers searched as well; `marketplace`: plugins to install.
- `servers`: all that stands behind the tools, taken over into the index and called through;
  `config`: the file that names them; `upstream`: one of them, kept connected;
  `transport`: the way to it; `untrusted`: what it says is checked, cut and marked.
"""

from ctrag.extras import need

need("serving MCP", "mcp", "jsonschema", "jwt", "uvicorn", extra="mcp")
