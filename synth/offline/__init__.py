"""Synthesis without a model."""
