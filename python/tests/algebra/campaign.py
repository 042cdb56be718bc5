"""Checks on many random expressions that algebra is as exact as XLA.

    cd python/tests
    python -m algebra.campaign --count 10000 --seed 0 [--jobs N] [--strict] [--shrink]
    python -m algebra.campaign --only 123                   # one seed again, shrunk if it fails

Each case is made from one seed, which is printed if it fails, with the rules without which it does
not. The cases run in other processes, so that one that crashes is a failure like others. At the
end: how often each rule was applied.
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
CASES_A_PROCESS = 50


class Coverage:
    """What the cases of a campaign had in them."""

    def __init__(self) -> None:
        self.cases = 0
        self.with_rule = 0
        self.with_reference = 0
        self.op_by_op: list[int] = []
        self.rules = collections.Counter[str]()
        # Cases, not times.
        self.cases_of_rule = collections.Counter[str]()
        self.explained: list[tuple[float, float, int]] = []

    def add(self, seed: int, outcome: dict[str, Any]) -> None:
        self.cases += 1
        self.with_rule += bool(outcome["rules"])
        self.with_reference += outcome["needed_reference"]
        self.op_by_op += [seed] * outcome["needed_op_by_op"]
        self.rules.update(outcome["rules"])
        self.cases_of_rule.update(outcome["rules"].keys())
        self.explained += [(error, own, seed) for error, own in outcome["explained"]]

    def __str__(self) -> str:
        from plimsoll import ir

        share = self.with_rule / max(1, self.cases)
        lines = [
            f"{self.cases} cases, {self.with_rule} ({share:.0%}) changed by rules",
            f"{self.with_reference} needed float64; {len(self.explained)} results are less exact"
            " than XLA's, but not by more than rounding errors of the arguments make",
        ]
        if self.op_by_op:
            lines.append(f"the same only if computed op by op: {self.op_by_op}")
        ratios = sorted(((e / max(o, 1e-12), seed) for e, o, seed in self.explained), reverse=True)
        if ratios:
            worst = ", ".join(f"{ratio:.1f} (seed {seed})" for ratio, seed in ratios[:5])
            lines.append(f"the largest ratios of such errors: {worst}")
        lines += [
            f"{self.rules[name]:8d} times in {self.cases_of_rule[name]:6d} cases  {name}"
            for name in sorted(rule["name"] for rule in ir.rules())
        ]
        return "\n".join(lines)


def run_seed(seed: int, strict: bool, is_shrunk: bool) -> dict[str, Any]:
    """The outcome of one case as JSON; a failure has a text."""
    from algebra import check_random, generate

    try:
        case = generate.make(seed)
        return check_random.run(case, strict).as_json()
    except check_random.Failure as failure:
        text = str(failure)
        if is_shrunk:
            smaller = check_random.shrink(case, strict)
            rules = check_random.blamed(smaller, strict)
            text += f"\nnot without: {', '.join(rules) or 'no single rule'}\n{smaller.graph}"
            text += "\n  and its gradient" * smaller.graph.is_differentiated
        return {"failure": text}
    except Exception:
        # The generator's own mistake: no program to check.
        return {"failure": traceback.format_exc()}


def work(first: int, count: int, strict: bool, is_shrunk: bool) -> None:
    """What the other processes do: a line before and a line after each case."""
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        outcome = run_seed(seed, strict, is_shrunk)
        print(json.dumps({"seed": seed, "outcome": outcome}), flush=True)


def run_range(
    first: int,
    count: int,
    strict: bool = False,
    is_shrunk: bool = False,
    environment: dict[str, str] | None = None,
) -> dict[int, dict[str, Any]]:
    """The outcomes of these seeds, from as many processes as it takes."""
    outcomes: dict[int, dict[str, Any]] = {}
    end = first + count
    while first < end:
        process = subprocess.run(
            [sys.executable, "-m", "algebra.campaign", "--worker", f"{first}:{end - first}"]
            + ["--strict"] * strict
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
    parser.add_argument("--only", type=int, metavar="SEED", help="one seed, shrunk if it fails")
    parser.add_argument("--strict", action="store_true", help="only rules that reorder")
    parser.add_argument("--shrink", action="store_true", help="shrink every failing case")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(*map(int, options.worker.split(":")), options.strict, options.shrink)
        return 0
    if options.only is not None:
        options.seed, options.count, options.shrink = options.only, 1, True
    print(f"seeds {options.seed}, ..., {options.seed + options.count - 1}", flush=True)
    started = time.monotonic()
    coverage = Coverage()
    failed = []
    end = options.seed + options.count
    ranges = [
        (first, min(CASES_A_PROCESS, end - first))
        for first in range(options.seed, end, CASES_A_PROCESS)
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run_range, *each, options.strict, options.shrink) for each in ranges]
        for run in concurrent.futures.as_completed(runs):
            for seed, outcome in sorted(run.result().items()):
                if "failure" in outcome:
                    failed.append(seed)
                    print(f"seed {seed}: {outcome['failure']}", flush=True)
                else:
                    coverage.add(seed, outcome)
            print(f"{coverage.cases} cases passed, {time.monotonic() - started:.0f} s", flush=True)
    print(coverage)
    print(f"{time.monotonic() - started:.0f} s; failed: {sorted(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
