"""Measures what algebra is worth: peaks, times and operations with and without its rules.

    python -m benchmarks.algebra [--only NAME,...] [--keep] [--quick]

Programs as people write them, the examples of the Linnea paper, and CartPole in four ways. The
results go into benchmarks/results/ after each program. Fails if a program failed, or is less exact
by more than a factor of two than XLA's, of the program as it is or as one would write it by hand.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import benchmarks.algebra.programs  # noqa: F401 (fills the table)
from benchmarks.algebra import report
from benchmarks.algebra.table import PROGRAMS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
MOST_SECONDS = 600
# How much less exact than XLA a result may be, and what is never too much.
MOST_WORSE, LEAST_ERROR = 2, 1e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="NAME,...", help="measure these programs only")
    parser.add_argument("--keep", action="store_true", help="measure what is not in the results")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    parser.add_argument("--list", action="store_true", help="print the programs")
    options = parser.parse_args()
    if options.list:
        for one in PROGRAMS.values():
            print(f"{one.name:26} {one.group:20} {one.title}")
        return 0
    names = options.only.split(",") if options.only else list(PROGRAMS)
    if unknown := set(names) - set(PROGRAMS):
        parser.error(f"no programs of these names: {', '.join(sorted(unknown))}")
    rows = report.read(RESULTS) if options.keep or options.only and not options.quick else {}
    alarms = []
    for name in names:
        if options.keep and name in rows:
            continue
        row = measure(name, options.quick)
        rows[name] = row
        print(report.line(name, row), flush=True)
        alarms += _alarms(name, row)
        if not options.quick:
            report.write(RESULTS, {one: rows[one] for one in PROGRAMS if one in rows})
    print("\n" + report.summary(rows))
    for alarm in alarms:
        print(f"  !!! {alarm}")
    return int(bool(alarms))


def measure(name: str, is_quick: bool) -> dict[str, Any]:
    """What a fresh process finds out about the program."""
    drop = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "PLIMSOLL_MEMORY_LIMIT", "PLIMSOLL_OPTIMIZE")
    environment = {key: value for key, value in os.environ.items() if key not in drop}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.algebra.child", name]
    try:
        child = subprocess.run(
            command + ["--quick"] * is_quick,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"took more than {MOST_SECONDS} s"}
    answers = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode or not answers:
        lines = child.stderr.strip().splitlines()
        return {"failure": lines[-1] if lines else f"exit status {child.returncode}"}
    return json.loads(answers[-1])


def _alarms(name: str, row: dict[str, Any]) -> list[str]:
    if "failure" in row:
        return [f"{name}: {row['failure']}"]
    plain, ours = row["errors"]
    allowed = max(plain, row.get("error_by_hand", 0))
    if ours > MOST_WORSE * allowed + LEAST_ERROR:
        return [f"{name}: error {ours:.1e}, XLA's own {allowed:.1e}"]
    return []


if __name__ == "__main__":
    sys.exit(main())
