"""An agent's session with many tools.

The modules, in the order in which they build on each other:

- `tokens`: what tools and texts cost in a model's context.
- `binding`: `ToolContextManager`, the tools that are bound now, and which is evicted first.
- `arguments`: when two calls are the same call.
- `guard`: `IterationGuard` detects loops.
- `searches`: redundant searches; `recent_calls`: the history for the next tool.
- `definitions`: search hits with their full definitions.
- `history`: a conversation cut to a budget, calls and results together.
- `events`: decisions as structured events, and sinks for them; `recorder` emits them.
- `telemetry`: the sink for OpenTelemetry.
- `outcomes`, `state`: a session's results, and its saved state.
- `session_tools`: the tools that a session holds, under access checks.
- `tool_session`: `ToolSession`, the entry point: these with its searches and calls.
- `next_tools`: tools that usually come next, offered with a call's answer.
- `settings`: settings of a server's sessions, read from a file.
- `registry`: the sessions of a serving process, by handle.
"""
