"""Algebra: which rules may change a program, and programs that are changed to be faster."""

import os
from collections.abc import Callable
from typing import Any

from plimsoll import ir, kernels, roundtrip, user_rules
from plimsoll.errors import PlimsollError
from plimsoll.log import logger, warn_once
from plimsoll.need import need_of

OPTIMIZE = "PLIMSOLL_OPTIMIZE"
DISABLE = "PLIMSOLL_DISABLE"
NUMERICS = "PLIMSOLL_NUMERICS"


def is_for_speed() -> bool:
    """True if programs that fit are to be changed as well where that makes them faster."""
    return _one_of(OPTIMIZE, ("memory", "speed")) == "speed"


def options() -> dict[str, Any]:
    """Which rules may be used, as the core takes it."""
    known = {rule["name"] for rule in ir.rules()}
    disabled = [name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip()]
    for name in disabled:
        if name not in known:
            warn_once(f"{DISABLE}: there is no rule called {name!r}; docs/rules.md has them all")
    return {
        "strict": _one_of(NUMERICS, ("default", "strict")) == "strict",
        "disabled": [name for name in disabled if name in known],
    }


def key() -> str:
    """What of it belongs into the persistent cache's key."""
    settings = (os.environ.get(name, "") for name in (OPTIMIZE, DISABLE, NUMERICS))
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
    reason = "XLA needs more memory for it"
    report["refused_rules"] += [rule | {"reason": reason} for rule in report["rules"]]
    report["rules"] = []
    return plain


def _one_of(variable: str, words: tuple[str, str]) -> str:
    """The environment variable's value; the first of `words` if it is not set, or none of them."""
    value = os.environ.get(variable, "").strip().lower()
    if value and value not in words:
        warn_once(f"{variable}: expected {' or '.join(words)}, found {value!r}; it is ignored")
    return value if value in words else words[0]
