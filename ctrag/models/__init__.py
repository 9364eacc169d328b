"""Models: where their weights come from, and what runs them.

- `packages`, `weights`: which installed package contains a model; converted weights, made once.
- `encoder`, `onnx_encoder`: text in, unit vectors out; encoders as ONNX graphs. `bert_graph`: the
  small one without torch. `vocabularies`: packaged tokenizers.
- `byte_products`: whether a graph's weights have 8 bits on this processor.
- `request_adapter`, `tool_encoder`: tuned changes of an encoder, for requests and for tools.
- `vector_cache`: vectors on disk.
- `cards`, `arrays`, `array_artefact`: provenance of an artefact, and its arrays.
- `language_model`: the small language model (`LanguageModel`); `lm_weights`, `lm_engine`,
  `onnx_llama`, `lora`: its weights, engines and adapter. `lm_tokenizer`, `tokenizer_files`: any
  model's tokenizer; `placement`: GPUs, and weights of few bits.
- `chat_markup`, `tokens`: chat template; token counts.
- `endpoint`: any OpenAI-compatible endpoint.
- `blas`: thread limit of linear algebra.
"""
