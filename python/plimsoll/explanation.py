"""`plimsoll.explain`: what Plimsoll would do with a program under a limit, without running it."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll import hook, ir, kernels, record, refusal, shrink
from plimsoll.errors import MemoryLimitError, PlimsollError
from plimsoll.limits import Limit, parse_limit
from plimsoll.record import Compilation
from plimsoll.show import count_text, section
from plimsoll.units import byte_text

_PARTS = ("arguments", "results", "temporaries", "scratch", "constants", "code")

_number = itertools.count()
# Lines that are named after a loop.
_MOST_LINES = 8
# Values that were considered and not cut.
_MOST_REFUSED = 10


@dataclass(frozen=True)
class Explanation:
    """What would be done with a program. As text it is a description."""

    compilation: Compilation
    """The record of the program, as `plimsoll.report()` has it."""
    error: MemoryLimitError | None
    """The error that it would give; None if it can be held."""

    @property
    def outcome(self) -> str:
        """ "fits", "cut" or "refused"."""
        if self.error is not None:
            return "refused"
        return "cut" if self.compilation.before is not None else "fits"

    def as_json(self) -> dict[str, Any]:
        fields = self.compilation.as_json()
        for name in ("plan", "simplification"):
            if fields[name] is not None:
                fields[name] = kernels.with_times(fields[name])
        return {
            "outcome": self.outcome,
            "needed": None if self.error is None else self.error.needed,
            **fields,
        }

    def __str__(self) -> str:
        parts = [self._heading() if self.error is None else self.error.message]
        if self.compilation.plan is not None:
            parts += _algebra_sections(self.compilation.plan)
            parts += _kernel_sections(self.compilation.plan)
            parts += _sections(self.compilation.plan, self.error is not None)
        elif self.compilation.simplification is not None:
            parts += _algebra_sections(self.compilation.simplification)
            parts += _kernel_sections(self.compilation.simplification)
        return "\n\n".join(parts)

    def _heading(self) -> str:
        one = self.compilation
        limit = "" if one.allowed is None else f", the limit is {byte_text(one.allowed)}"
        need = byte_text(one.need.total) if one.need else "?"
        if self.outcome == "fits":
            what = "is made faster" if one.is_changed else "goes to XLA as it is"
            return f"{one.name} needs {need}{limit}: it fits, and {what}"
        rows = [
            ("", "before", "after"),
            *(
                (name, byte_text(getattr(one.before, name)), byte_text(getattr(one.need, name)))
                for name in _PARTS
            ),
        ]
        what = "cut" if one.plan is None or shrink.is_cut(one.plan) else shrink.WITHOUT_LIBRARY
        text = (
            f"{one.name} needs {byte_text(one.before.total)}{limit}; {what}, it needs {need}"
            f" ({count_text(one.compilations, 'compilation')})"
        )
        return section(text, rows, "lrr")


def _algebra_sections(plan: dict[str, Any]) -> list[str]:
    """What rules did, and what they almost did, in a plan or a simplification."""
    parts = []
    if plan["rules"]:
        lines = ["algebra"]
        for fired in plan["rules"]:
            before, after = fired["before"], fired["after"]
            lines.append(
                f"  {fired['rule']}{_at(fired)}: {_amount(before['flops'])} ->"
                f" {_amount(after['flops'])} operations, largest value"
                f" {byte_text(before['largest'])} -> {byte_text(after['largest'])}"
            )
        parts.append("\n".join(lines))
    if plan["refused_rules"]:
        lines = ["algebra that was considered and left out"]
        for refused in plan["refused_rules"][:_MOST_REFUSED]:
            lines.append(f"  {refused['rule']}{_at(refused)}: {refused['reason']}")
        parts.append("\n".join(lines))
    return parts


def _at(rule: dict[str, Any]) -> str:
    return f" ({rule['source']})" if rule["source"] else ""


def _amount(number: float) -> str:
    return f"{number:.0f}" if number < 1e4 else f"{number:.1e}"


def _kernel_sections(plan: dict[str, Any]) -> list[str]:
    """What kernels do, and the largest values that they do not do without."""
    parts = []
    if plan["kernels"]:
        lines = ["kernels"]
        for kernel in kernels.with_times(plan)["kernels"]:
            spared = byte_text(kernel["bytes"])
            what = f"one without {spared}" if kernel["bytes"] else "a whole loop"
            lines.append(f"  {what}{_at(kernel)}: {_times_text(kernel)}")
            lines += [f"    {line}" for line in kernel["program"].splitlines()]
        parts.append("\n".join(lines))
    if plan["refused_kernels"]:
        # A line may make many values of one kind.
        kinds = {tuple(sorted(value.items())): value for value in plan["refused_kernels"]}
        worst = sorted(kinds.values(), key=lambda value: -value["bytes"])
        lines = ["considered for a kernel and left out"]
        parts.append("\n".join(lines + refusal.lines_of_values(worst[:_MOST_REFUSED])))
    return parts


def _times_text(kernel: dict[str, Any]) -> str:
    expected = f"{_time_text(kernel['seconds'])} expected"
    if not kernel["calls"]:
        return expected
    calls = count_text(kernel["calls"], "call")
    return f"{expected}, {_time_text(kernel['measured_seconds'])} measured (least of {calls})"


def _time_text(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _sections(plan: dict[str, Any], is_refused: bool) -> list[str]:
    parts = []
    if plan["made"]:
        lines = ["loops"]
        for cut in plan["made"]:
            lines += _lines_of_cut(cut)
        parts.append("\n".join(lines))
    if plan["recomputed"]:
        lines = ["computed anew in each turn of the loops that read it"]
        parts.append("\n".join(lines + refusal.lines_of_values(plan["recomputed"])))
    # The error tells already of what is left to hold memory.
    refused = [value for value in plan["refused"] if not is_refused or value not in plan["held"]]
    if refused:
        worst = sorted(refused, key=lambda value: -value["bytes"])[:_MOST_REFUSED]
        lines = ["considered and not cut"]
        parts.append("\n".join(lines + refusal.lines_of_values(worst)))
    if plan["reason"]:
        parts.append(f"not cut: {plan['reason']}")
    return parts


def _lines_of_cut(cut: dict[str, Any]) -> list[str]:
    source = f", {cut['source']}" if cut["source"] else ""
    turns = -(-cut["blocks"] // cut["chunk"])
    lines = [
        f"  {count_text(cut['loops'], 'loop')} over {cut['axis']}:"
        f" {count_text(turns, 'turn')}, {cut['chunk']} of {cut['blocks']} at a time",
        f"    for {byte_text(cut['bytes'])} {cut['value']}{source}",
    ]
    if cut["sources"]:
        lines.append(f"    runs {_lines_text(cut['sources'])}")
    if cut["repeated"]:
        where = f" ({_lines_text(cut['repeated_sources'])})" if cut["repeated_sources"] else ""
        lines.append(
            f"    {count_text(cut['repeated'], 'op')} in more than one of the loops{where}"
        )
    return lines


def _lines_text(lines: list[str]) -> str:
    more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    return f"{', '.join(lines[:_MOST_LINES])}{more}"


def explain(
    function: Callable,
    *arguments: Any,
    memory_limit: str | int | float | None = None,
    **keywords: Any,
) -> Explanation:
    """Compiles `function` for these arguments under a limit, and tells what was done and why.

    `function` may be jitted or plain; an argument may be a `jax.ShapeDtypeStruct`. Without a limit
    it is the one that is in force. Nothing runs.
    """
    import jax

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    limit = None if memory_limit is None else parse_limit(memory_limit, "plimsoll.explain")
    return _watched(limit, lambda: jitted.lower(*arguments, **keywords).compile())


def explain_module(module: ir.Module, limit: Limit) -> Explanation:
    """The same for a program that is not from this process."""
    return _watched(limit, lambda: compile_module(module))


def compile_module(module: ir.Module) -> Any:
    """Compiles a program as JAX compiles its own, for one device of its default backend."""
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir as mlir_ir

    backend = xla_bridge.get_backend()
    devices = backend.local_devices()[:1]
    options = compiler.get_compile_options(
        num_replicas=1, num_partitions=1, device_assignment=[[device.id for device in devices]]
    )
    with mlir.make_ir_context():
        program = mlir_ir.Module.parse(module.text_bytes())
        # JAX's own programs have a name.
        if "sym_name" not in program.operation.attributes:
            program.operation.attributes["sym_name"] = mlir_ir.StringAttr.get("program")
        return compiler.backend_compile_and_load(
            backend, program, xla_client.DeviceList(tuple(devices)), options, []
        )


def _watched(limit: Limit | None, compile_program: Callable[[], Any]) -> Explanation:
    context = hook.limit_context()
    if context is None:
        raise PlimsollError("PL204", "PLIMSOLL=off: there is nothing to explain")
    error = None
    explained = hook.Explained(limit or hook.limit_in_force(), next(_number))
    with context(explained), record.watched() as seen:
        try:
            compile_program()
        except MemoryLimitError as caught:
            error = caught
    return Explanation(seen[-1], error)
