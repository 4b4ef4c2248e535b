"""Long-running checks, run by `make`."""
