"""Measures how small a limit Plimsoll holds, and at what price.

    python -m benchmarks.squeeze [--only NAME,...] [--fractions 2,4,10,100] [--quick] [--keep]

A limit is what no change of the program can save (arguments, results, constants, code) and a
fraction of what XLA takes besides (temporaries and scratch of libraries). The results go into
benchmarks/results/ after each program. Fails if a limit was not kept to, or a
program crashed under it.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import benchmarks.squeeze.programs  # noqa: F401 (fills the table)
from benchmarks.revision import revision
from benchmarks.squeeze import report
from benchmarks.squeeze.measure import ROOT, Options, measure
from benchmarks.squeeze.table import PROGRAMS

RESULTS = ROOT / "benchmarks" / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="NAME,...", help="measure these programs only")
    parser.add_argument("--fractions", default="2,4,10,100", metavar="N,...")
    parser.add_argument(
        "--quick", action="store_true", help="no search, no float64, short timing, nothing written"
    )
    parser.add_argument("--keep", action="store_true", help="measure what is not in the results")
    parser.add_argument("--list", action="store_true", help="print the programs")
    arguments = parser.parse_args()
    if arguments.list:
        for one in PROGRAMS.values():
            print(f"{one.name:24} {one.package or 'plain JAX':16} {one.title}")
        return 0
    names = arguments.only.split(",") if arguments.only else list(PROGRAMS)
    if unknown := set(names) - set(PROGRAMS):
        parser.error(f"no programs of these names: {', '.join(sorted(unknown))}")
    fractions = tuple(int(part) for part in arguments.fractions.split(","))
    options = Options(fractions, is_full=not arguments.quick)
    rows = report.read(RESULTS) if arguments.keep or arguments.only else {}
    commit = revision()
    measured = []
    for name in names:
        if arguments.keep and name in rows:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measure(PROGRAMS[name], options, commit, Path(folder))
        measured.append(row)
        print(report.line(row), flush=True)
        if not arguments.quick:
            rows[name] = row
            report.write(RESULTS, [rows[one] for one in PROGRAMS if one in rows])
    summed_up = measured if arguments.quick or arguments.only else list(rows.values())
    print("\n" + report.summary(summed_up))
    return int(any(row.alarms for row in measured))


if __name__ == "__main__":
    sys.exit(main())
