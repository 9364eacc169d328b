"""Context retrieval: Table 2 of the context-tuning paper.

- `run`: the experiment; `figures`, `report`: its page.
- `bm25t`: BM25 with a k1 per term; `thought`, `thought_writers`, `generated_thoughts`: a sentence
  on
  what would decide a request, written by a model; `prompts/` holds its prompt.
- `misses`, `importance`: what is still missed, and what each feature is worth.
"""
