"""Runs the benchmarks: `python -m benches encoding --corpus DIR`.

`suites/*.toml` says what is measured. Ids are compared before anything is timed, and contenders take turns
round after round, in this process or in a fresh one per round. Results are JSON files in `results/`, which
`report` turns into Markdown and pictures.
"""
