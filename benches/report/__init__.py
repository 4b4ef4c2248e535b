"""Turns the results of `harness` into Markdown pages and pictures.

`python -m benches report` writes them. Equal results give equal output, so that a test can
check that the pages are up to date.
"""
