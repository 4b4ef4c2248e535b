"""Former name of `bytemill.inspection`."""

from bytemill.inspection import *  # noqa: F403 - the same names
from bytemill.inspection import __all__  # noqa: F401
