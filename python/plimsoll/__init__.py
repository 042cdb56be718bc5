"""Plimsoll: a compiler layer in front of XLA that gives a program a memory limit.

    PLIMSOLL_MEMORY_LIMIT=2GiB python train.py

JAX finds it by itself. This package is for limits on parts of a program, and for looking at one.
Importing it is cheap: JAX is imported only by the parts that need it.
"""

from plimsoll import ir
from plimsoll._native import VERSION as __version__
from plimsoll.assumptions import assume
from plimsoll.errors import MemoryLimitError, PlimsollError
from plimsoll.explanation import Explanation, explain
from plimsoll.hook import take_flags_early as _take_flags_early
from plimsoll.inspection import Inspection, inspect
from plimsoll.record import Compilation, Report, report
from plimsoll.scope import jit, memory_limit, set_memory_limit
from plimsoll.user_rules import Rule, rule

__all__ = [
    "Compilation",
    "Explanation",
    "Inspection",
    "MemoryLimitError",
    "PlimsollError",
    "Report",
    "Rule",
    "__version__",
    "assume",
    "explain",
    "inspect",
    "ir",
    "jit",
    "memory_limit",
    "report",
    "rule",
    "set_memory_limit",
]

_take_flags_early()
