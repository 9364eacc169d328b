"""Text processing: words and temporal expressions; independent of models and stores.

- `words`: tokens, stems and stop words; `trigrams`: character trigrams.
- `bm25`: lexical scores of a list of texts.
- `dates`: temporal expressions.
- `language`: whether a text is in English.
"""
