"""The error for a program that does not fit: what is needed and allowed, why, and what helps."""

import re
from typing import Any

from plimsoll.check import Verdict
from plimsoll.errors import MemoryLimitError
from plimsoll.large_values import largest_values
from plimsoll.need import Need
from plimsoll.show import section, section_of_values
from plimsoll.units import byte_text, limit_text

_MOST_VALUES = 5


def describe(
    name: str, source: str, executable: Any, need: Need, verdict: Verdict
) -> MemoryLimitError:
    """The error for the program `name`, whose check gave `verdict`."""
    needed = verdict.need + (verdict.held or 0)
    parts = [
        f"{name} needs {byte_text(needed)} on {verdict.place}, the limit is {verdict.allowance}"
        + (f"; compiled at {source}" if source else ""),
        section("what it needs", _need_rows(need, verdict), "rl"),
        _values(executable),
        _remedies(needed, need, verdict),
    ]
    return MemoryLimitError(
        "PL401", "\n".join(filter(None, parts)), needed=needed, allowed=verdict.allowance.bytes
    )


def _need_rows(need: Need, verdict: Verdict) -> list[tuple[str, str]]:
    count = verdict.need // need.total if need.total else 1
    rows = [
        (need.arguments, "arguments"),
        (need.results, "results"),
        (-need.aliased, "results in the place of donated arguments"),
        (need.temporaries, "temporaries"),
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


def _values(executable: Any) -> str:
    try:
        return section_of_values(largest_values(executable, _MOST_VALUES))
    except Exception:
        # Some backends have no program to look at. The refusal stands without it.
        return ""


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
