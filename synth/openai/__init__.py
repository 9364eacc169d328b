"""People, requests and toolboxes by a language model behind any OpenAI-compatible endpoint.

- `provider`: `OpenAIProvider`: a person by one question about who they are and one about each
  application; requests by one question, then their tools, plan and chain of thought.
- `toolbox`: an application's APIs, validated and deduplicated.
- `forms`: the form of each answer, and rules that a schema cannot express.
- `asking`: a question with its repairs; `answers`: the disk cache; `cost_budget`: tokens and money.
- `prompts`: the questions themselves, `synth/prompts/*.jinja`, which a user may override.
"""
