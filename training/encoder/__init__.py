"""The encoder's adapter: requests are moved towards the items they need (`train`, `network`)."""
