"""A program over its limit, cut into pieces until it fits: plan, compile, look, tighten."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from plimsoll import algebra, ir, kernels, roundtrip, trials
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

# What is told of a program that fits as it is, with options of ours.
WITHOUT_LIBRARY = "compiled without XLA's library for sums"

# What is tried out; the first is what is thought to be the fastest.
_WAYS = ("as planned", "with kernels", "without kernels", "without algebra")

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
    *,
    may_try: bool,
) -> Outcome:
    """Programs with the results of `module` until one of them fits.

    `unchanged` is `module` as it was compiled, and `bounds` are the planner's `most_value` and
    `most_chunk`. If no program fits, the one that is given needs a limit that does work: it is the
    unchanged one or the planner's last, which the planner makes under every limit. Of several ways
    that fit the fastest is taken: what is thought to be, unless they were tried out or `may_try`.
    """
    try:
        graph = roundtrip.graph_of(module)
    except PlimsollError as error:
        logger.debug("%s; it cannot be cut", error)
        return unchanged

    def shrunk(way: str) -> Outcome:
        options = bounds | _options(way, _platform(unchanged.executable))
        return _shrink(module, graph, unchanged, compile_pieces, look_at, options)

    if unchanged.verdict.allowance is None or _platform(unchanged.executable) != "cpu":
        return shrunk(_WAYS[0])
    choice = trials.Choice(module, unchanged.verdict.allowance.bytes, bounds)
    kept = choice.read()
    first = shrunk(kept if kept in _WAYS else _WAYS[0])
    if kept is not None or not (may_try and trials.is_on()) or not _can_be_tried(first, graph):
        return first
    return _fastest({_WAYS[0]: first} | {way: shrunk(way) for way in _WAYS[1:]}, choice, graph)


def _options(way: str, platform: str) -> dict[str, Any]:
    """What the planner takes, for one of the ways to change a program."""
    options = algebra.options()
    if way == "without algebra":
        options["disabled"] = sorted(rule["name"] for rule in ir.rules())
    if way != "without kernels":
        options |= kernels.options(platform)
    return options | {"wants_kernels": 1} if way == "with kernels" else options


def _can_be_tried(outcome: Outcome, graph: ir.Module) -> bool:
    """True if there is something to choose, and room for arguments besides those of the user."""
    if not outcome.is_changed or not outcome.verdict.fits or not outcome.plan["can_be_tried"]:
        return False
    if len(outcome.executable.local_devices()) != 1:
        return False
    verdict = outcome.verdict
    room = verdict.allowance.bytes - (verdict.held or 0) - verdict.need
    return room >= trials.argument_bytes(graph)


def _fastest(outcomes: dict[str, Outcome], choice: trials.Choice, graph: ir.Module) -> Outcome:
    """The outcome that runs fastest, which is kept for the next time."""
    fitting: dict[str, Outcome] = {}
    for way, one in outcomes.items():
        is_new = all(one.plan != other.plan for other in fitting.values())
        if one.is_changed and one.verdict.fits and is_new:
            fitting[way] = one
    times = trials.times_of({way: one.executable for way, one in fitting.items()}, graph)
    way = min(times, key=times.__getitem__)
    choice.write(way, times)
    taken = ", ".join(f"{one} {1e3 * seconds:.3g} ms" for one, seconds in times.items())
    logger.info("tried out: %s", taken)
    return replace(
        fitting[way],
        compilations=1 + sum(one.compilations - 1 for one in outcomes.values()),
        seconds=sum(one.seconds for one in outcomes.values()),
    )


def _shrink(
    module: Any,
    graph: ir.Module,
    unchanged: Outcome,
    compile_pieces: Callable[[Any, dict[str, Any]], Any],
    look_at: Callable[[Any], Findings],
    options: dict[str, Any],
) -> Outcome:
    """What `shrink` gives, in the way that the planner's options allow."""
    started = time.perf_counter()
    seconds = 0.0
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
        **options,
    )
    last = unchanged
    plan = None
    compilations = 1
    last_text = b""
    while (attempt := planner.next()) is not None:
        plan = attempt.plan
        text = attempt.module.text_bytes()
        # The planner may think less of a program's need than XLA does, and be right for the options
        # that a CPU's programs are compiled with here.
        is_new = is_cut(plan) or platform == "cpu"
        if not is_new or text == last_text:
            if not is_cut(plan):
                planner.tell(max(1, need.total - fixed))
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
    return ", ".join(parts) or WITHOUT_LIBRARY


def _in_brackets(lines: list[str]) -> str:
    if not lines:
        return ""
    more = ", ..." if len(lines) > _MOST_NAMED else ""
    return f" ({', '.join(lines[:_MOST_NAMED])}{more})"
