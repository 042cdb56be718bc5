"""`plimsoll.inspect`: what a function would need, without running it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll import ir, scope
from plimsoll.large_values import largest_values
from plimsoll.limits import UNLIMITED
from plimsoll.need import Need, need_of
from plimsoll.show import section_of_values
from plimsoll.units import byte_text

_MOST_VALUES = 20


@dataclass(frozen=True)
class Inspection:
    """A function's program for given arguments. As text it is a short description."""

    module: ir.Module
    """The program as JAX made it."""
    need: Need | None
    """What XLA would need on each device; None if XLA does not say."""

    largest: list[dict[str, Any]]
    """The largest values that XLA would make: bytes, type, op and the user's source line."""

    def __str__(self) -> str:
        name = self.module.summary(0)["module"]
        need = None if self.need is None else self.need.total
        return f"{name} needs {byte_text(need)}\n{section_of_values(self.largest)}"


def inspect(function: Callable, *arguments: Any, **keywords: Any) -> Inspection:
    """Compiles `function` for these arguments, whatever the limit, and tells what it would need.

    `function` may be jitted or plain; an argument may be a `jax.ShapeDtypeStruct`.
    """
    import jax

    from plimsoll.roundtrip import graph_of

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    # Under a limit of its own, so that no call finds what was compiled here unchecked.
    with scope.entered(UNLIMITED):
        lowered = jitted.lower(*arguments, **keywords)
        compiled = lowered.compile()
    executable = compiled.runtime_executable()
    return Inspection(
        graph_of(lowered.compiler_ir("stablehlo")),
        need_of(executable),
        largest_values(executable, _MOST_VALUES),
    )
