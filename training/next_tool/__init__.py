"""Fitting a `NextTool` to demonstrations (`train`, `settings`, `trees`)."""
