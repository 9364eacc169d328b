"""Text processing: words and temporal expressions; independent of models and stores.

- `words`: tokens, stems and stop words; `trigrams`: character trigrams.
- `bm25`: lexical scores of a list of texts.
- `dates`: temporal expressions.
- `false_starts`, `courtesy`: what is taken back or merely polite, set aside.
- `phone_numbers`, `lark`: numbers in a text; texts as literals of a grammar.
- `terminal`, `bidi`: texts of others made safe to print.
- `language`: whether a text is in English.
"""
