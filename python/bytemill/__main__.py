"""`python -m bytemill` is the command `bytemill`."""

from bytemill.cli import main

main(prog_name="bytemill")
