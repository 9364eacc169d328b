"""Planning in five settings: Table 3 of the context-tuning paper (`run`, `rows`).

`steps` opens the models; `eval.spoken` plans with it too.
"""
