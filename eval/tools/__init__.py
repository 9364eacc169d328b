"""API retrieval with and without context: Figure 2 of the context-tuning paper (`run`)."""
