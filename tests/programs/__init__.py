"""Programs that check more than a test run has time for; `make` runs them."""
