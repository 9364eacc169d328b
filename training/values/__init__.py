"""The ranker of argument values (`train`, `value_ranker`)."""
