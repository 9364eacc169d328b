"""Labels and lists of the instruction experiment; see README.md."""
