"""The error for a program that does not fit: what is needed and allowed, why, and what helps."""

import re
from typing import Any

from plimsoll.check import Verdict
from plimsoll.errors import MemoryLimitError
from plimsoll.large_values import largest_values
from plimsoll.need import Need
from plimsoll.record import Compilation
from plimsoll.show import section, section_of_values
from plimsoll.units import byte_text, limit_text

_MOST_VALUES = 5


def describe(compilation: Compilation, executable: Any, verdict: Verdict) -> MemoryLimitError:
    """The error for a program whose check gave `verdict`, cut as far as it can be."""
    need = compilation.need
    needed = verdict.need + (verdict.held or 0)
    cut = " even if it is cut" if compilation.before else ""
    where = f"; compiled at {compilation.source}" if compilation.source else ""
    parts = [
        f"{compilation.name} needs {byte_text(needed)} on {verdict.place}{cut}, the limit is"
        f" {verdict.allowance}{where}",
        section("what it needs", _need_rows(need, compilation.before, verdict), "rl"),
        _values(compilation.plan, executable),
        _remedies(needed, need, verdict),
    ]
    return MemoryLimitError(
        "PL401", "\n".join(filter(None, parts)), needed=needed, allowed=verdict.allowance.bytes
    )


def _need_rows(need: Need, before: Need | None, verdict: Verdict) -> list[tuple[str, str]]:
    count = verdict.need // need.total if need.total else 1
    temporaries = "temporaries"
    if before is not None:
        temporaries += f" (not cut: {byte_text(before.temporaries + before.scratch)})"
    rows = [
        (need.arguments, "arguments"),
        (need.results, "results"),
        (-need.aliased, "results in the place of donated arguments"),
        (need.temporaries, temporaries),
        (need.scratch, "scratch of library calls, which XLA does not count"),
        (need.constants, "constants"),
        (need.code, "code"),
    ]
    lines = [(byte_text(size), what) for size, what in rows if size]
    if count > 1:
        lines.append(("", f"all this on each of {count} devices"))
    if verdict.held:
        lines.append((byte_text(verdict.held), "held already by arrays that are not arguments"))
    return lines


def _values(plan: dict[str, Any] | None, executable: Any) -> str:
    """The values that hold the memory, and for each why it is not cut."""
    if plan is not None and plan["held"]:
        return "\n".join(["what holds the memory", *lines_of_values(plan["held"])])
    try:
        text = section_of_values(largest_values(executable, _MOST_VALUES))
    except Exception:
        # Some backends have no program to look at. The refusal stands without it.
        return ""
    return f"{text}\n  {plan['reason']}" if plan and plan["reason"] else text


def lines_of_values(values: list[dict[str, Any]]) -> list[str]:
    """Each value of a plan with its line, and under it the reason why it is not cut."""
    lines = []
    for value in values:
        where = f", {value['source']}" if value["source"] else ""
        lines.append(f"  {byte_text(value['bytes'])} {value['value']}{where}")
        if value.get("reason"):
            lines += [f"    {reason}" for reason in value["reason"].split("; ")]
    return lines


def _remedies(needed: int, need: Need, verdict: Verdict) -> str:
    allowed = verdict.allowance.bytes
    lines = ["what helps"]
    if need.arguments + need.results - need.aliased > allowed:
        lines.append(
            "  its arguments and results alone take more: nothing less than a higher limit"
        )
    lines.append(f"  a limit of at least {limit_text(needed)}")
    if verdict.held:
        lines.append("  deleting arrays that are not needed any more")
    # Worth a line only where it would save something.
    if need.results > needed / 20 and not need.aliased:
        lines.append("  donating arguments that are not needed afterwards (donate_argnums)")
    lines.append("  docs/errors/PL401.md tells more")
    return "\n".join(lines)


def module_name(module: Any) -> str:
    """The name of a module of jaxlib's MLIR, such as "jit_step"."""
    attribute = module.operation.attributes["sym_name"]
    return getattr(attribute, "value", None) or str(attribute).strip('"')


# How MLIR's element types are called in JAX.
_DTYPES = {
    "i1": "bool",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_NAMES = {"i": "int", "ui": "uint", "f": "float"}


def argument_types(module: Any) -> list[tuple[tuple[int, ...], str]]:
    """The shapes and types of the main function's arguments, as JAX's arrays have them."""
    for op in module.body.operations:
        if "sym_name" in op.attributes and str(op.attributes["sym_name"]) == '"main"':
            types = [argument.type for argument in op.regions[0].blocks[0].arguments]
            return [
                (tuple(kind.shape), _dtype_name(str(kind.element_type)))
                for kind in types
                if hasattr(kind, "shape")
            ]
    return []


def _dtype_name(element: str) -> str:
    if element in _DTYPES:
        return _DTYPES[element]
    letters = element.rstrip("0123456789")
    # The small formats, such as f8E4M3FN, are float8_e4m3fn.
    if small := re.fullmatch(r"f(\d+)(E\w+)", element):
        return f"float{small[1]}_{small[2].lower()}"
    return f"{_NAMES.get(letters, letters)}{element[len(letters) :]}"
