"""Plimsoll: a compiler layer in front of XLA that gives a program a memory limit.

Importing this package is cheap: JAX is imported only by the parts that need it.
"""

from plimsoll import ir
from plimsoll._native import lib as _lib
from plimsoll.errors import PlimsollError

__all__ = ["PlimsollError", "__version__", "ir"]

__version__ = _lib.plimsoll_version().decode()
