"""What several test modules share: texts, small encodings, oracles, faults, measuring."""
