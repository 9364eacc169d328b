"""From request, items and tools to one checked API call.

- `plan`: the plan's syntax, and its check against a toolbox.
- `values`: which values arguments may take, and where each was found.
- `grammar`: the grammar of all plans that are possible for one request.
- `embedded`: a small Llama model on this machine, decoding under that grammar.
- `endpoint`: any OpenAI-compatible endpoint, held to the same grammar's offers.
"""
