"""Text as words, and the times that it names; it knows of no model and no store's schema.

- `words`: tokens, stems and stop words; `trigrams`: character trigrams.
- `bm25`: lexical scores of a list of texts.
- `dates`: temporal expressions.
"""
