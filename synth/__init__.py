"""Synthetic people. Now: the reference data set that ctrag ships (`reference`)."""
