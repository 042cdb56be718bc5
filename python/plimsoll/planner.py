"""Programs that need less memory, from the core, to be compiled until one of them fits."""

import ctypes
import json
import weakref
from dataclasses import dataclass
from typing import Any

from plimsoll import ir
from plimsoll._native import check, lib, take_string


@dataclass(frozen=True)
class Attempt:
    """A program to compile, and what was done to make it."""

    module: ir.Module
    plan: dict[str, Any]


class Planner:
    """Asked for the next program, and told what the last one needed."""

    def __init__(self, module: ir.Module, **options: Any):
        # The core's planner reads from the module, so the module must live as long.
        self._module = module
        handle = ctypes.c_void_p()
        text = json.dumps(options).encode()
        check(lib.plimsoll_planner_make(module._pointer, text, ctypes.byref(handle)))
        self._pointer = handle.value
        weakref.finalize(self, lib.plimsoll_planner_free, self._pointer)

    def next(self) -> Attempt | None:
        """The next program to try; None if there is no other."""
        module, plan = ctypes.c_void_p(), ctypes.c_void_p()
        check(lib.plimsoll_planner_next(self._pointer, ctypes.byref(module), ctypes.byref(plan)))
        if module.value is None:
            return None
        return Attempt(
            ir.Module.from_pointer(module.value, self._module), json.loads(take_string(plan.value))
        )

    def tell(self, needed: int, scratch: int = 0) -> None:
        """What the temporaries of the last program need, scratch of libraries included."""
        lib.plimsoll_planner_tell(self._pointer, needed, scratch)
