"""A program over its limit, cut into pieces until it fits: plan, compile, look, tighten."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from plimsoll import algebra, kernels, roundtrip
from plimsoll.check import Verdict
from plimsoll.errors import PlimsollError
from plimsoll.log import logger, warn_once
from plimsoll.need import Need
from plimsoll.planner import Planner
from plimsoll.show import count_text
from plimsoll.units import byte_text

# Chunks of about this size run fastest: on a CPU what stays in its cache, on a GPU what fills it.
_BEST_CHUNK = {"cpu": 4 << 20, "gpu": 1 << 30}
# A GPU's allocator has gaps, in which a program that needs all that is left would not fit.
_GPU_SHARE = 0.75
# Where nothing is known that would limit a program.
_NO_BUDGET = 1 << 62
# How many axes, and lines of each, the log line names.
_MOST_NAMED = 3

# What a compiled program needs, at most needs, and whether it fits.
Findings = tuple[Need | None, int | None, Verdict | None]


@dataclass(frozen=True)
class Outcome:
    """The program that fits or, if none does, the smallest one that is known."""

    executable: Any
    need: Need
    verdict: Verdict
    is_changed: bool
    """False if it is the program as it came."""
    plan: dict[str, Any] | None = None
    """What was done, and what could not be, as the core tells it; None if it was not asked."""
    compilations: int = 1
    """Those of the unchanged program and of all attempts."""
    seconds: float = 0.0
    """The time that planning took, without XLA's."""


def shrink(
    module: Any,
    unchanged: Outcome,
    compile_pieces: Callable[[Any, dict[str, Any]], Any],
    look_at: Callable[[Any], Findings],
    bounds: dict[str, int],
) -> Outcome:
    """Programs with the results of `module` until one of them fits.

    `unchanged` is `module` as it was compiled, and `bounds` are the planner's `most_value` and
    `most_chunk`. If no program fits, the one that is given needs a limit that does work: it is the
    unchanged one or the planner's last, which the planner makes under every limit.
    """
    started = time.perf_counter()
    seconds = 0.0
    try:
        graph = roundtrip.graph_of(module)
    except PlimsollError as error:
        logger.debug("%s; it cannot be cut", error)
        return unchanged
    need = unchanged.need
    # What no cut takes away.
    fixed = need.total - need.temporaries - need.scratch
    platform = _platform(unchanged.executable)
    budget = _room(unchanged.verdict, fixed)
    if platform == "gpu":
        budget = int(budget * _GPU_SHARE)
    planner = Planner(
        graph,
        budget=max(1, budget),
        best_chunk=_BEST_CHUNK.get(platform, _BEST_CHUNK["cpu"]),
        # A GPU's come from a pool.
        fresh_temporaries=int(platform != "gpu"),
        **kernels.options(platform),
        **bounds,
        **algebra.options(),
    )
    last = unchanged
    plan = None
    compilations = 1
    last_text = b""
    while (attempt := planner.next()) is not None:
        plan = attempt.plan
        if not is_cut(plan):
            # The planner thinks less of the program's need than XLA does.
            planner.tell(max(1, need.total - fixed))
            continue
        text = attempt.module.text_bytes()
        if text == last_text:
            continue
        last_text = text
        seconds += time.perf_counter() - started
        compilations += 1
        try:
            executable = compile_pieces(roundtrip.parse(text, module), plan)
        except Exception as error:
            warn_once(f"XLA refused a program that was cut: {type(error).__name__}: {error}")
            continue
        finally:
            started = time.perf_counter()
        new_need, _, new_verdict = look_at(executable)
        if new_need is None or new_verdict is None:
            break
        logger.debug("attempt %d needs %s", compilations - 1, byte_text(new_need.total))
        last = Outcome(executable, new_need, new_verdict, True, plan, compilations, seconds)
        if new_verdict.fits:
            return last
        planner.tell(max(1, new_need.total - fixed), new_need.scratch)
    seconds += time.perf_counter() - started
    if last.verdict.need >= unchanged.verdict.need or unchanged.verdict.fits:
        last = replace(unchanged, plan=plan)
    return replace(last, compilations=compilations, seconds=seconds)


def is_cut(plan: dict[str, Any]) -> bool:
    """True if the plan changes the program."""
    return bool(plan["made"] or plan["recomputed"] or plan["rules"] or plan["kernels"])


def _room(verdict: Verdict, fixed: int) -> int:
    """What temporaries may take."""
    if verdict.allowance is None:
        return _NO_BUDGET
    return max(1, verdict.allowance.bytes - (verdict.held or 0) - fixed)


def _platform(executable: Any) -> str:
    devices = executable.local_devices() if hasattr(executable, "local_devices") else []
    return devices[0].platform if devices else ""


def log_line(name: str, before: int, outcome: Outcome, seconds: float) -> str:
    """What is told of a program that was changed."""
    allowance = outcome.verdict.allowance
    limit = f" (limit {byte_text(allowance.bytes)})" if allowance else ""
    return (
        f"{name.removeprefix('jit_')} {byte_text(before)} -> {byte_text(outcome.verdict.need)}"
        f"{limit}: {_what_was_done(outcome.plan)};"
        f" {count_text(outcome.compilations, 'compilation')}, {seconds:.1f} s"
    )


def _what_was_done(plan: dict[str, Any]) -> str:
    parts = []
    if loops := sum(cut["loops"] for cut in plan["made"]):
        lines: dict[str, list[str]] = {}
        for cut in plan["made"]:
            of_axis = lines.setdefault(cut["axis"], [])
            if cut["source"] and cut["source"] not in of_axis:
                of_axis.append(cut["source"])
        axes = [axis + _in_brackets(where) for axis, where in lines.items()]
        more = " and others" if len(axes) > _MOST_NAMED else ""
        axes_text = ", ".join(axes[:_MOST_NAMED]) + more
        parts.append(f"{count_text(loops, 'loop')} over {axes_text}")
    if plan["kernels"]:
        lines_of_kernels = [kernel["source"] for kernel in plan["kernels"] if kernel["source"]]
        where = _in_brackets(list(dict.fromkeys(lines_of_kernels)))
        parts.append(f"{count_text(len(plan['kernels']), 'kernel')}{where}")
    if plan["recomputed"]:
        lines_of_values = [value["source"] for value in plan["recomputed"] if value["source"]]
        where = _in_brackets(list(dict.fromkeys(lines_of_values)))
        parts.append(
            f"{count_text(len(plan['recomputed']), 'value')} computed anew in loops{where}"
        )
    if plan["rules"]:
        names = list(dict.fromkeys(fired["rule"] for fired in plan["rules"]))
        lines_of_rules = [fired["source"] for fired in plan["rules"] if fired["source"]]
        where = _in_brackets(list(dict.fromkeys(lines_of_rules)))
        more = " and others" if len(names) > _MOST_NAMED else ""
        parts.append(f"algebra: {', '.join(names[:_MOST_NAMED])}{more}{where}")
    return ", ".join(parts)


def _in_brackets(lines: list[str]) -> str:
    if not lines:
        return ""
    more = ", ..." if len(lines) > _MOST_NAMED else ""
    return f" ({', '.join(lines[:_MOST_NAMED])}{more})"
