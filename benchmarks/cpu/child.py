"""Times one contender at one row in this process, which has to be a fresh one: a line of JSON.

    python -m benchmarks.cpu.child CONTENDER ROW --outputs FILE [--quick] [--seconds S]
        [--form INDEX] [--limits BYTES,...]

The contender `exact` is not timed: it writes the results in float64. Of limits, 0 stands for none
and for speed. Of all forms and limits the fastest counts.
"""

import argparse
import contextlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

import benchmarks.cpu.programs  # noqa: F401 (fills the table)
import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.cpu.rivals import RIVALS
from benchmarks.cpu.table import ROWS, Work
from benchmarks.kernel_calls import kernel_calls
from benchmarks.timing import fastest

import plimsoll
from plimsoll import kernels
from plimsoll.need import need_of

# What takes longer than this, in seconds, runs once more and that is all.
LONG_RUN = 5.0
# What generating the code of kernels may add to a first run, in seconds.
GENERATION = 0.5
# What one run shows to be slower than another by this factor is not timed further.
MOST_SLOWER = 2.0
# Of the memory that is free, what a program may need.
MOST_OF_MEMORY = 0.6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("contender")
    parser.add_argument("row")
    parser.add_argument("--outputs", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--form", type=int)
    parser.add_argument("--limits", type=lambda text: [int(part) for part in text.split(",")])
    options = parser.parse_args()
    # If memory runs out, this process is to blame.
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    work = ROWS[options.row].built(options.quick)
    if options.contender == "exact":
        answer, results = exact(work)
    elif options.contender in RIVALS:
        rival = RIVALS[options.contender](options.row)
        answer, results = rivalled(rival, work, options.seconds)
    else:
        forms = range(len(work.forms)) if options.form is None else [options.form]
        answer, results = compiled(work, list(forms), options.limits, options.seconds)
    _save(options.outputs, work.part(results) if options.contender != "exact" else results)
    print(json.dumps(answer), flush=True)


def exact(work: Work) -> tuple[dict[str, Any], Any]:
    jax.config.update("jax_enable_x64", True)
    arguments = jax.tree.map(_widened, work.arguments)
    return {}, (work.exact or jax.jit(work.forms[0]))(*arguments)


def rivalled(rival: Callable, work: Work, seconds: float) -> tuple[dict[str, Any], Any]:
    results, first_seconds = _timed(rival, work.arguments)
    # The first run may be one of compilation above all.
    once = fastest([rival], work.arguments, 0.0)[0]
    least = fastest([rival], work.arguments, seconds)[0] if once < LONG_RUN else once
    return {"first_seconds": first_seconds, "seconds": least}, results


def compiled(
    work: Work, forms: list[int], limits: list[int], seconds: float
) -> tuple[dict[str, Any], Any]:
    """The fastest of what is compiled of these forms, under these limits."""
    held = [one for form in forms for limit in limits if (one := _held(work, form, limit))]
    if not held:
        return {"failure": "every limit was refused"}, ()
    least_need = min(held, key=lambda one: one.need)
    if least_need.need > MOST_OF_MEMORY * _free_memory():
        return least_need.answer() | {"failure": f"needs {least_need.need / 1e9:.0f} GB"}, ()
    candidates = _different([one for one in held if one.need <= MOST_OF_MEMORY * _free_memory()])
    arguments = jax.device_put(work.arguments)
    for one in candidates:
        one.first_run(arguments)
    first = [one.first_run_seconds for one in candidates]
    candidates = _close(candidates, first, GENERATION)
    once = fastest([one.run for one in candidates], arguments, 0.0)
    candidates = _close(candidates, once, 0.0)
    seconds = 0.0 if min(once) > LONG_RUN else seconds
    least = fastest([one.run for one in candidates], arguments, seconds)
    best = int(np.argmin(least))
    answer = candidates[best].answer() | {"seconds": least[best], "made": _made()}
    return answer, candidates[best].first_results


def _made() -> dict[str, float]:
    """The longest that making the code of one kernel took, in seconds, by where it is from."""
    longest: dict[str, float] = {}
    for kernel in kernels.made():
        place = "disk" if kernel["from_disk"] else "generated"
        longest[place] = max(longest.get(place, 0.0), kernel["seconds"])
    return longest


class Compiled:
    """A program as it was compiled, and what that took."""

    def __init__(self, work: Work, form: int, limit: int):
        self.form, self.limit = form, limit
        function = work.forms[form]
        # Nothing is on the device yet: a limit is that of the program alone.
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), work.arguments)
        # A jit of its own, so that nothing compiled before is found.
        lowered = jax.jit(lambda *arguments: function(*arguments)).lower(*shapes)
        started = time.perf_counter()
        self.run = lowered.compile()
        self.compile_seconds = time.perf_counter() - started
        self.text = self.run.as_text()
        need = need_of(self.run.runtime_executable())
        self.need = need.total
        self.temporaries = need.temporaries + need.scratch
        self.first_results: Any = None
        self.first_run_seconds = 0.0

    def first_run(self, arguments: list) -> None:
        self.first_results, self.first_run_seconds = _timed(self.run, arguments)

    def answer(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "limit": self.limit,
            "kernels": kernel_calls(self.text),
            "compile_seconds": self.compile_seconds,
            "temporaries": self.temporaries,
            "fixed": self.need - self.temporaries,
            "first_seconds": self.compile_seconds + self.first_run_seconds,
        }


def _held(work: Work, form: int, limit: int) -> Compiled | None:
    """A form under a limit, or for speed if that is 0; None if it is refused."""
    os.environ["PLIMSOLL_OPTIMIZE"] = "" if limit else "speed"
    try:
        with plimsoll.memory_limit(limit) if limit else contextlib.nullcontext():
            return Compiled(work, form, limit)
    except plimsoll.MemoryLimitError:
        return None


def _different(candidates: list[Compiled]) -> list[Compiled]:
    """Each program once."""
    by_text = {}
    for one in candidates:
        by_text.setdefault(one.text, one)
    return list(by_text.values())


def _close(candidates: list[Compiled], times: list[float], slack: float) -> list[Compiled]:
    """Those that are nearly as fast as the fastest."""
    most = MOST_SLOWER * min(times) + slack
    return [one for one, time in zip(candidates, times, strict=True) if time <= most]


def _timed(run: Callable, arguments: list) -> tuple[Any, float]:
    started = time.perf_counter()
    results = jax.block_until_ready(run(*arguments))
    return results, time.perf_counter() - started


def _free_memory() -> int:
    with open("/proc/meminfo") as file:
        lines = dict(line.split(":") for line in file)
    return 1024 * int(lines["MemAvailable"].split()[0])


def _widened(x: Any) -> Any:
    return jnp.asarray(x, np.float64) if x.dtype == np.float32 else jnp.asarray(x)


def _save(path: str, results: Any) -> None:
    leaves = jax.tree.leaves(results)
    np.savez(path, **{str(index): np.asarray(leaf) for index, leaf in enumerate(leaves)})


if __name__ == "__main__":
    main()
