"""Calls made again in simulated tools: whose order is free, and which end states are reached."""
