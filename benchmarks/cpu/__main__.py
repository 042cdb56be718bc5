"""Times work on the processor: plain XLA, our loops, our kernels, and those who do the same work.

    python -m benchmarks.cpu [--only NAME,...] [--quick] [--keep]

Each contender has a process of its own, two threads, and the least time of several runs. The
results go into benchmarks/results/ after each row. Fails if our own program failed, or is less
exact than XLA's by more than a factor of two; a ratio that is not reached is listed.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import benchmarks.cpu.programs  # noqa: F401 (fills the table)
from benchmarks.cpu import report
from benchmarks.cpu.measure import ROOT, alarms, measure
from benchmarks.cpu.rivals import THREADS
from benchmarks.cpu.table import ROWS
from benchmarks.revision import revision

RESULTS = ROOT / "benchmarks" / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="NAME,...", help="measure these rows only")
    parser.add_argument("--keep", action="store_true", help="measure what is not in the results")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    parser.add_argument("--list", action="store_true", help="print the rows")
    options = parser.parse_args()
    if options.list:
        for row in ROWS.values():
            print(f"{row.name:18} {row.title}")
        return 0
    names = options.only.split(",") if options.only else list(ROWS)
    if unknown := set(names) - set(ROWS):
        parser.error(f"no rows of these names: {', '.join(sorted(unknown))}")
    # XLA takes as many threads as it may use processors.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    rows = report.read(RESULTS) if (options.keep or options.only) and not options.quick else {}
    commit = revision()
    found = []
    for name in names:
        if options.keep and name in rows:
            continue
        made_of = {"commit": commit, "load": os.getloadavg()[0]}
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = measure(ROWS[name], options.quick, Path(folder)) | made_of
        print(report.line(name, rows, options.quick), flush=True)
        found += alarms(ROWS[name], rows[name])
        if not options.quick:
            report.write(RESULTS, {one: rows[one] for one in ROWS if one in rows})
    print("\n" + report.summary({name: rows[name] for name in names}, options.quick))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
