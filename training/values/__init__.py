"""What chooses a call's values (`train`, `value_ranker`)."""
