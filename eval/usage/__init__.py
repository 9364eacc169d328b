"""What a personal ranker is worth: requests of people before and after it learned from theirs."""
