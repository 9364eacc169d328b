"""Honest timings: `python -m benchmarks.run`."""
