"""Measures every program and compares it with what plimsoll says it needs.

    python -m benchmarks.memory_truth [NAME ...]

Without names, the results go into docs/memory.md and docs/memory.svg. Fails if a need is under the
truth by more than 32 MB, or the median need is over it by more than 10 %.
"""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jaxlib.version
from benchmarks.memory_truth import report
from benchmarks.memory_truth.programs import PROGRAMS, Program

ROOT = Path(__file__).parents[2]
TABLE = "benchmarks.memory_truth.programs"
MOST_UNDER = 32e6
MOST_MEDIAN_OVER = 0.10


@dataclass(frozen=True)
class Outcome:
    name: str
    # Bytes in the whole process, over all devices.
    measured: int
    needed: int
    scratch: int

    @property
    def difference(self) -> int:
        return self.needed - self.measured

    @property
    def over(self) -> float:
        return self.needed / self.measured - 1


def main(names: list[str]) -> int:
    chosen = {name: PROGRAMS[name] for name in names} if names else PROGRAMS
    outcomes = [measure(name, program) for name, program in chosen.items()]
    worst = min(outcomes, key=lambda outcome: outcome.difference)
    median = statistics.median(outcome.over for outcome in outcomes)
    print(
        f"\n{len(outcomes)} programs, jaxlib {jaxlib.version.__version__}\n"
        f"worst under: {max(0, -worst.difference) / 1e6:.1f} MB ({worst.name}); at most 32\n"
        f"median over: {100 * median:.1f} %; at most 10"
    )
    if not names:
        report.write(ROOT / "docs", outcomes, worst, median)
    return int(-worst.difference > MOST_UNDER or median > MOST_MEDIAN_OVER)


def measure(name: str, program: Program) -> Outcome:
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    # Flags of the caller could change what XLA takes.
    environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={program.devices}"
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory_truth.child", TABLE, name],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer = json.loads(child.stdout.splitlines()[-1])
    devices = answer["devices"]
    outcome = Outcome(
        name,
        answer["measured"],
        answer["need"]["total"] * devices,
        answer["need"]["scratch"] * devices,
    )
    print(
        f"{name:42} measured {outcome.measured / 1e6:7.1f} MB, need {outcome.needed / 1e6:7.1f} MB "
        f"({outcome.difference / 1e6:+.1f} MB, {100 * outcome.over:+.1f} %)",
        flush=True,
    )
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
