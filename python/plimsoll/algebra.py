"""Algebra: which rules may change a program, and programs that are changed to be faster."""

import os
from collections.abc import Callable
from typing import Any

from plimsoll import ir, kernels, roundtrip, switches, user_rules
from plimsoll.errors import PlimsollError
from plimsoll.log import logger, warn_once
from plimsoll.need import need_of

OPTIMIZE = "PLIMSOLL_OPTIMIZE"
NUMERICS = "PLIMSOLL_NUMERICS"


def is_for_speed() -> bool:
    """True if programs that fit are to be changed as well where that makes them faster."""
    return _one_of(OPTIMIZE, ("memory", "speed")) == "speed"


def options() -> dict[str, Any]:
    """Which rules may be used, as the core takes it."""
    known = {rule["name"] for rule in ir.rules()}
    disabled = switches.disabled()
    for name in disabled - known - {kernels.NAME}:
        warn_once(
            f"{switches.DISABLE}: there is no rule called {name!r}; docs/rules.md has them all"
        )
    return {
        "strict": _one_of(NUMERICS, ("default", "strict")) == "strict",
        "disabled": sorted(disabled & known),
    }


def key() -> str:
    """What of it belongs into the persistent cache's key."""
    settings = (os.environ.get(name, "") for name in (OPTIMIZE, switches.DISABLE, NUMERICS))
    return " ".join((*settings, user_rules.key()))


def simplify(module: Any, platform: str) -> tuple[Any, dict[str, Any] | None]:
    """The module of jaxlib's MLIR made faster, or itself; and what was done, or almost."""
    try:
        graph = roundtrip.graph_of(module)
    except PlimsollError as error:
        logger.debug("%s; it goes to XLA as it is", error)
        return module, None
    simplified, report = graph.simplify(**options(), **kernels.options(platform))
    if not report["is_surely_faster"]:
        return module, report
    return roundtrip.parse(simplified.text_bytes(), module), report


# A program is taken to need less than before if the estimate says so by this factor.
SURELY_LESS = 0.8
# What XLA needs may differ by so much, in bytes, without being more.
SAME_NEED = 64 << 10


def choose(simplified: Any, report: dict[str, Any], compile_plain: Callable[[], Any]) -> Any:
    """The executable of the simplified program, or the plain one if that needs less memory.

    Plain is compiled only if the estimate leaves a doubt.
    """
    if report["peak_after"] <= SURELY_LESS * report["peak_before"]:
        return simplified
    plain = compile_plain()
    needs = [need_of(executable) for executable in (simplified, plain)]
    if None in needs or needs[0].total <= needs[1].total + SAME_NEED:
        return simplified
    refuse_rules(report, "XLA needs more memory for it")
    return plain


def refuse_rules(report: dict[str, Any], reason: str) -> None:
    """Tells that what the rules made is not used."""
    report["refused_rules"] += [rule | {"reason": reason} for rule in report["rules"]]
    report["rules"] = []


def _one_of(variable: str, words: tuple[str, str]) -> str:
    """The environment variable's value; the first of `words` if it is not set, or none of them."""
    value = os.environ.get(variable, "").strip().lower()
    if value and value not in words:
        warn_once(f"{variable}: expected {' or '.join(words)}, found {value!r}; it is ignored")
    return value if value in words else words[0]
