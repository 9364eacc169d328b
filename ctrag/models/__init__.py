"""Every weight and every tensor: where models come from, and what runs them.

- `packages`, `weights`: which installed package carries a model; converted weights, made once.
- `encoder`, `onnx_encoder`: text in, unit vectors out; encoders as 8-bit ONNX graphs. `bert_graph`:
  the small one without torch. `vocabularies`: tokenizers that count without weights.
- `request_adapter`, `tool_encoder`: what tuning changes of an encoder, for requests and for tools.
- `vector_cache`: vectors kept on disk.
- `cards`, `arrays`, `array_artefact`: what an artefact says of its origin, and its arrays.
- `language_model`: the small language model (`LanguageModel`); `lm_weights`, `lm_engine`,
  `onnx_llama`, `lora`: the small language model, its engines, its
  adapter.
- `chat_markup`, `tokens`: the markup of a turn; what a text costs.
- `endpoint`: any OpenAI-compatible endpoint.
- `blas`: how many threads linear algebra takes.
"""
