"""The encoder's adapter: requests learn to point at the items they need (`train`, `network`)."""
