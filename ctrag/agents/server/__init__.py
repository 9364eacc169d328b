"""Serving tools to any agent over the Model Context Protocol (extra `mcp`).

From the outside in:

- `serve`: over stdin and stdout, or HTTP; `principals`: who calls, from the file of `--access`;
  `operations`: health, readiness and metrics; `reload`: files that are read again when they
  change; `check`: what would be served.
- `protocol`: the meta-tools, for clients of the 2025 and the 2026 revision.
- `gateway`: sessions, searches, calls; what the protocol and any other surface use;
  `search`: searching and binding the results; `permissions`: which tools may be used;
  `answers`: responses to the model.
- `remote`: other ctrag servers searched as well; `marketplace`: plugins to install.
- `servers`: the servers behind the tools, listed into the index and called through it;
  `running`: which of them run; `isolation`: those with a process for each session;
  `exposure`: what of their lists is shown; `leftovers`: what a store remembers of them.
- `config`: what there is to say of a server; `client_config`, `client_fields`, `variables`: the
  files of MCP clients.
- `upstream`: one server, kept connected; `line`: one connection, and whose calls run on it;
  `transport`: its streams; `named_stderr`: what its process says; `untrusted`: its definitions
  checked, cut and marked.
- `channel`: what a call says to and asks of its client; `parked`: calls that wait for an answer;
  `beside`, `resources`: resources and prompts; `results`: links and long results.
"""

from ctrag.extras import need

need("serving MCP", "mcp", "jsonschema", "jwt", "uvicorn", extra="mcp")
