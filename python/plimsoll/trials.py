"""`PLIMSOLL_TUNE=1`: the ways to change a program are tried out, and the fastest is kept on disk.

What is kept is used from then on, also without the variable. Programs that talk to the host, or
whose loops end when their numbers say so, are never run on made-up numbers.
"""

import hashlib
import json
import os
import platform as machine
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll import algebra, device_memory, ir, roundtrip
from plimsoll._native import VERSION
from plimsoll.log import logger
from plimsoll.need import need_of

TUNE = "PLIMSOLL_TUNE"
# Of timing, for each candidate.
_SECONDS = 0.3
_MOST_RUNS = 20
# Of what the machine has left, what trying out a program that has no limit may take.
_MOST_OF_MEMORY = 0.5
# A candidate that is slower than another by this factor is not run again.
_MOST_SLOWER = 2.0
# Constants of a program with more elements do not count for which program it is.
_MOST_ELEMENTS = 64

# What is kept for a program that is faster as it came.
_AS_IT_IS = "as it is"


def is_on() -> bool:
    return os.environ.get(TUNE) == "1"


def key() -> str:
    """What of it belongs into the persistent cache's key."""
    return "tuned" if is_on() else ""


class Choice:
    """Which of several candidates is taken for a program, known on disk by a hash."""

    def __init__(self, module: Any, budget: int, settings: Any):
        parts = (
            module.operation.get_asm(enable_debug_info=False, large_elements_limit=_MOST_ELEMENTS),
            budget,
            settings,
            algebra.key(),
            VERSION,
            len(os.sched_getaffinity(0)),
            _processor(),
        )
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()
        self._path = _folder() / digest

    def read(self) -> str | None:
        try:
            return str(json.loads(self._path.read_text())["fastest"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, fastest: str, seconds: dict[str, float]) -> None:
        """Other processes find all of it or nothing; without a place for it, nothing is kept."""
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_text(json.dumps({"fastest": fastest, "seconds": seconds}))
            part.replace(self._path)
        except OSError as error:
            logger.debug("what was tried out is not kept: %s", error)


def faster(
    module: Any,
    changed: Any,
    report: dict[str, Any],
    compile_plain: Callable[[], Any],
    may_try: bool,
) -> Any:
    """A program that was changed for speed, or the one that it was made of if that is faster.

    `report` is of what was done to it, and tells if it was in vain.
    """
    choice = Choice(module, 0, "speed")
    kept = choice.read()
    is_plain = kept == _AS_IT_IS
    plain = None
    if kept is None and may_try and is_on() and report["can_be_tried"]:
        graph = roundtrip.graph_of(module)
        plain = compile_plain()
        if _have_room(changed, plain, graph):
            times = times_of({"changed": changed, _AS_IT_IS: plain}, graph)
            is_plain = times[_AS_IT_IS] < times["changed"]
            choice.write(_AS_IT_IS if is_plain else "changed", times)
    if not is_plain:
        return changed
    algebra.refuse_rules(report, "it was tried out, and the program is faster as it is")
    report["kernels"] = []
    return compile_plain() if plain is None else plain


def _have_room(changed: Any, plain: Any, graph: ir.Module) -> bool:
    if len(changed.local_devices()) != 1 or changed.local_devices()[0].platform != "cpu":
        return False
    available = device_memory.host_available()
    needs = [need_of(executable) for executable in (changed, plain)]
    if available is None or None in needs:
        return False
    return argument_bytes(graph) + max(need.total for need in needs) <= _MOST_OF_MEMORY * available


def argument_bytes(graph: ir.Module) -> int:
    # With numpy, which importing Plimsoll does without.
    from plimsoll.run import main_arguments

    return sum(argument.type.host_bytes for argument in main_arguments(graph))


def times_of(candidates: dict[str, Any], graph: ir.Module) -> dict[str, float]:
    """Seconds of compiled programs on random numbers, the least of several runs of each."""
    import jax

    from plimsoll.run import main_arguments, random_inputs

    arguments = main_arguments(graph)
    make = random_inputs(arguments, seed=0)

    def time_of(executable: Any) -> float:
        # New ones each time: a program may take its arguments' memory for its results.
        with jax.enable_x64(True):
            arrays = jax.block_until_ready([jax.device_put(make(one.index)) for one in arguments])
        started = time.perf_counter()
        jax.block_until_ready(executable.execute(arrays))
        return time.perf_counter() - started

    # The first run starts threads and compiles kernels.
    for executable in candidates.values():
        time_of(executable)
    times = {name: time_of(executable) for name, executable in candidates.items()}
    started = time.perf_counter()
    # In turns, so that a busy moment of the machine is not one candidate's own.
    for _ in range(_MOST_RUNS):
        for name, executable in candidates.items():
            if times[name] <= _MOST_SLOWER * min(times.values()):
                times[name] = min(times[name], time_of(executable))
        if time.perf_counter() - started > _SECONDS * len(candidates):
            break
    return times


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "plimsoll" / "choices"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return machine.processor()
