"""Checks on many random programs that splitting leaves the results as they are.

    cd python/tests
    python -m splitting.campaign --count 10000 --seed 0 [--jobs N] [--shrink]
    python -m splitting.campaign --only 123                 # one seed again, shrunk if it fails

Each case is made from one seed, which is printed if it fails. The cases run in other processes, so
that one that crashes is a failure like others. At the end: how many cases had a cut, and which ops
were cut in which way.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

# A process that has compiled this many programs is replaced: they are never freed.
CASES_A_PROCESS = 150


class Coverage:
    """What the cases of a campaign had in them."""

    def __init__(self) -> None:
        self.cases = 0
        self.with_cut = 0
        self.without_peak = 0
        self.with_reference = 0
        self.loops = collections.Counter[int]()
        self.kinds = collections.Counter[str]()

    def add(self, outcome: dict[str, Any]) -> None:
        self.cases += 1
        self.with_cut += outcome["loops"] > 0
        self.without_peak += outcome["peak"] == 0
        self.with_reference += outcome["needed_reference"]
        self.loops[outcome["loops"]] += 1
        self.kinds.update(outcome["kinds"])

    def __str__(self) -> str:
        share = self.with_cut / max(1, self.cases)
        lines = [
            f"{self.cases} cases, {self.with_cut} ({share:.0%}) cut",
            f"{self.without_peak} had nothing to cut, {self.with_reference} needed float64",
            "passes a case: " + ", ".join(f"{n}: {c}" for n, c in sorted(self.loops.items())),
        ]
        lines += [f"{count:8d}  {kind}" for kind, count in sorted(self.kinds.items())]
        return "\n".join(lines)


def run_seed(seed: int, is_shrunk: bool) -> dict[str, Any]:
    """The outcome of one case as JSON; a failure has a text."""
    from splitting import check, generate

    try:
        case = generate.make(seed)
        return check.run(case).as_json()
    except check.Failure as failure:
        text = str(failure)
        if is_shrunk:
            smaller = check.shrink(case)
            text += f"\n{smaller.graph}"
        return {"failure": text}
    except Exception:
        # The generator's own mistake: no program to check.
        return {"failure": traceback.format_exc()}


def work(first: int, count: int, is_shrunk: bool) -> None:
    """What the other processes do: a line before and a line after each case."""
    import jax

    jax.config.update("jax_enable_x64", True)
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        print(json.dumps({"seed": seed, "outcome": run_seed(seed, is_shrunk)}), flush=True)


def run_range(
    first: int, count: int, is_shrunk: bool, environment: dict[str, str] | None = None
) -> dict[int, dict[str, Any]]:
    """The outcomes of these seeds, from as many processes as it takes."""
    outcomes: dict[int, dict[str, Any]] = {}
    end = first + count
    while first < end:
        process = subprocess.run(
            [sys.executable, "-m", "splitting.campaign", "--worker", f"{first}:{end - first}"]
            + ["--shrink"] * is_shrunk,
            cwd=Path(__file__).parents[1],
            env=environment,
            capture_output=True,
            text=True,
        )
        begun = first - 1
        for line in process.stdout.splitlines():
            if not line.startswith('{"seed"'):
                continue
            entry = json.loads(line)
            begun = entry["seed"]
            if "outcome" in entry:
                outcomes[begun] = entry["outcome"]
        if begun < first:
            raise RuntimeError(process.stderr)
        if begun not in outcomes:
            lines = process.stderr.strip().splitlines()
            outcomes[begun] = {"failure": f"crash: {lines[0] if lines else process.returncode}"}
        first = begun + 1
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="one seed, shrunk if it fails")
    parser.add_argument("--shrink", action="store_true", help="shrink every failing case")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(*map(int, options.worker.split(":")), options.shrink)
        return 0
    if options.only is not None:
        options.seed, options.count, options.shrink = options.only, 1, True
    started = time.monotonic()
    coverage = Coverage()
    failed = []
    end = options.seed + options.count
    ranges = [
        (first, min(CASES_A_PROCESS, end - first))
        for first in range(options.seed, end, CASES_A_PROCESS)
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run_range, *each, options.shrink) for each in ranges]
        for run in concurrent.futures.as_completed(runs):
            for seed, outcome in sorted(run.result().items()):
                if "failure" in outcome:
                    failed.append(seed)
                    print(f"seed {seed}: {outcome['failure']}", flush=True)
                else:
                    coverage.add(outcome)
            print(f"{coverage.cases} cases passed, {time.monotonic() - started:.0f} s", flush=True)
    print(coverage)
    print(f"{time.monotonic() - started:.0f} s; failed: {sorted(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
