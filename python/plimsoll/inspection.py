"""`plimsoll.inspect`: what a function would need, without running it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll import ir, scope
from plimsoll.limits import UNLIMITED
from plimsoll.need import Need, need_of
from plimsoll.show import largest_values
from plimsoll.units import byte_text

_MOST_VALUES = 20


@dataclass(frozen=True)
class Inspection:
    """A function's program for given arguments. As text it is a short description."""

    module: ir.Module
    """The program as JAX made it."""
    need: Need | None
    """What XLA would need on each device; None if XLA does not say."""

    @property
    def largest(self) -> list[dict[str, Any]]:
        """The largest values of the program: bytes, type, op and the user's source line."""
        return self.module.summary(_MOST_VALUES)["largest"]

    def __str__(self) -> str:
        summary = self.module.summary(_MOST_VALUES)
        need = "?" if self.need is None else byte_text(self.need.total)
        return f"{summary['module']} needs {need}\n{self.need}\n{largest_values(summary)}"


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
    return Inspection(
        graph_of(lowered.compiler_ir("stablehlo")), need_of(compiled.runtime_executable())
    )
