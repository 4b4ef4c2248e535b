"""File formats of vocabularies: pure functions between the bytes of a file and a `Definition`.

One module for each format, with its limits; `bytemill.io` reads and writes the files.
"""
