"""Planning in five settings: Table 3 of the context-tuning paper (`run`, `rows`)."""
