"""Tool search: its encoder and the weights of its ranker (`encoder`, `ranker`)."""
