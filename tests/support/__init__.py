"""Shared by several test modules: texts, small encodings, oracles, fault injection, measuring."""
