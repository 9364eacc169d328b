"""What happened, step by step, and what an agent has at hand meanwhile.

Of one request:

- `trace`: the inputs and outputs of a request's steps; what `--explain` and `--json` print.
- `record`: sessions as files, one request or event a line; what `ctrag session show` reads.

Of an agent's session with many tools, in the order in which they build on each other:

- `tokens`: what tools and texts cost in a model's context.
- `binding`: `ToolContextManager`, the tools that are bound now, and which goes first.
- `arguments`: when two calls are the same call.
- `guard`: `IterationGuard` notices loops.
- `searches`: searches that find again what was just found.
- `definitions`: what a search found, with its full definitions.
- `history`: a conversation cut to a budget, calls and results together.
- `events`: decisions as structured events, and sinks for them; `recorder` makes them.
- `telemetry`: the sink for OpenTelemetry.
- `outcomes`, `state`: what a session answers, and what is saved of it.
- `tool_session`: `ToolSession` joins all of these, asks for access and is what to use.
- `settings`: how a server's sessions behave, as a file.
- `registry`: the sessions of a serving process, by handle.
"""
