"""The re-ranker of prompts, hybrid weights and sufficiency (`reranker`, `decisions`)."""
