"""The confidence of a whole call, calibrated on people that nothing before it learned from."""
