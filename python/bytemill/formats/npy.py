"""The header of NumPy's `.npy` files, of a size that does not depend on the length of the array.

So it can be written before the length is known, and again when it is.
"""

from __future__ import annotations

__all__ = ["HEADER_BYTES", "header"]

# A multiple of 64, as NumPy writes it, with room for any length.
HEADER_BYTES = 128

# Version 1.0, which gives the size of what follows in two bytes.
MAGIC = b"\x93NUMPY\x01\x00"


def header(dtype: str, length: int) -> bytes:
    """Returns the header of a one-dimensional array; `dtype` is spelled as in `numpy.dtype.str`."""
    description = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}"
    size = HEADER_BYTES - len(MAGIC) - 2
    return MAGIC + size.to_bytes(2, "little") + description.ljust(size - 1).encode() + b"\n"
