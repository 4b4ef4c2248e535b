"""Runs the command `bytemill` for `python -m bytemill`."""

from bytemill.cli import main

main(prog_name="bytemill")
