"""Serving tools to any agent over the Model Context Protocol (extra `mcp`).

From the outside in:

- `serve`: over stdin and stdout, or HTTP; `principals`: who calls, from the file of `--access`;
  `operations`: health, readiness and metrics; `reload`: files that are read again when they
  change; `check`: what would be served.
- `protocol`: the meta-tools, for clients of the 2025 and the 2026 revision; `as_clients_ask`: those
  that keep to less of its form.
- `gateway`: what the protocol and any other surface use; `searches`, `calls`: what it does for
  sessions; `search`: retrieving tools and binding them; `permissions`: which tools may be used;
  `answers`: responses to the model.
- `remote`: other ctrag servers searched as well; `marketplace`, `plugin_offers`: plugins.
- `servers`: the servers behind the tools, listed into the index and called through it;
  `running`: which of them run; `isolation`: those with a process for each session;
  `exposure`: what of their lists is shown; `leftovers`: what a store remembers of them.
- `config`: what there is to say of a server; `client_config`, `client_fields`, `variables`: the
  files of MCP clients.
- `upstream`: one server, kept connected; `line`: one connection, and whose calls run on it;
  `transport`: its streams; `stdio`, `http_client`: a process, an address; `named_stderr`: what a
  process says; `untrusted`: definitions checked, cut and marked.
- `messages`, `handshake`, `listing`, `mending`, `http_answers`, `http_events`: what servers send in
  other forms than the protocol's, as what is meant.
- `channel`: what a call says to and asks of its client; `parked`: calls that wait for an answer;
  `beside`, `resources`: resources and prompts; `results`: links and long results.
"""

from ctrag.extras import need

need("serving MCP", "mcp", "jsonschema", "jwt", "uvicorn", extra="mcp")
