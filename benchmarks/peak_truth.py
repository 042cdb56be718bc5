"""Compares the estimate of a program's temporaries with what XLA:CPU says after it has compiled it.

    python -m benchmarks.peak_truth [--write] [NAME ...]

The programs are those of memory_truth and of peak_programs; nothing is run. XLA is told to give its
library single products only, so that its statistics hold all values that are made. With --write,
the figures go into docs/memory.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory_truth.programs import PROGRAMS as MEASURED
from benchmarks.memory_truth.programs import Program
from benchmarks.peak_programs import PROGRAMS as COMPILED

ROOT = Path(__file__).parents[1]
# Programs for several devices are cut up by XLA before anything else: they are not estimated.
PROGRAMS = {name: one for name, one in (MEASURED | COMPILED).items() if one.devices == 1}
OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
# A difference of less than this part of arguments and results decides nothing.
NEGLIGIBLE = 0.01


@dataclass(frozen=True)
class Outcome:
    name: str
    # Bytes.
    estimate: int
    truth: int
    given: int

    @property
    def error(self) -> float:
        """The difference, relative to the truth; 0 if it is negligible."""
        if abs(self.estimate - self.truth) <= NEGLIGIBLE * self.given:
            return 0.0
        return self.estimate / self.truth - 1 if self.truth else float("inf")

    @property
    def factor(self) -> float:
        return max(1 + self.error, 1 / (1 + self.error) if self.error > -1 else float("inf"))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    names = arguments.names or list(PROGRAMS)
    outcomes = [
        outcome
        for x64 in (False, True)
        for outcome in compile_all([name for name in names if PROGRAMS[name].x64 == x64], x64)
    ]
    outcomes.sort(key=lambda outcome: outcome.factor)
    for one in outcomes:
        print(
            f"{one.name:45} XLA {one.truth / 1e6:8.1f} MB, estimate {one.estimate / 1e6:8.1f} MB"
            f" ({100 * one.error:+.1f} %)"
        )
    print("\n" + summary(outcomes))
    if arguments.write:
        write(outcomes)
    return 0


def summary(outcomes: list[Outcome]) -> str:
    some = [one for one in outcomes if one.truth > NEGLIGIBLE * one.given]
    errors = [abs(one.error) for one in some]
    near = sum(one.factor <= 1.1 for one in outcomes)
    within = sum(one.factor <= 1.5 for one in outcomes)
    return (
        f"{len(outcomes)} programs; {len(some)} of them with temporaries of note: median error"
        f" {100 * statistics.median(errors):.1f} %. Of all, {100 * near / len(outcomes):.0f} % are"
        f" within a tenth and {100 * within / len(outcomes):.0f} % within a factor of 1.5;"
        f" worst: {outcomes[-1].name}, {outcomes[-1].truth / 1e6:.0f} MB"
        f" estimated as {outcomes[-1].estimate / 1e6:.0f}."
    )


def compile_all(names: list[str], x64: bool) -> list[Outcome]:
    """Compiles the programs in a process of their own: it is told of float64 when it starts."""
    if not names:
        return []
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"XLA_FLAGS": "", "JAX_ENABLE_X64": str(int(x64))}
    child = subprocess.run(
        [sys.executable, "-c", "from benchmarks import peak_truth; peak_truth.child()"],
        cwd=ROOT,
        env=environment,
        input=json.dumps(names),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [Outcome(**json.loads(line)) for line in child.stdout.splitlines()]


def child() -> None:
    for name in json.load(sys.stdin):
        print(json.dumps(vars(compare(name, PROGRAMS[name]))), flush=True)


def compare(name: str, program: Program) -> Outcome:
    import jax

    from plimsoll import ir

    function, arguments = program.build()
    lowered = (function if hasattr(function, "lower") else jax.jit(function)).lower(*arguments)
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True)
    statistics = lowered.compile(compiler_options=OPTIONS).memory_analysis()
    return Outcome(
        name,
        ir.parse(text).peak()["bytes"],
        statistics.temp_size_in_bytes,
        statistics.argument_size_in_bytes + statistics.output_size_in_bytes,
    )


def write(outcomes: list[Outcome]) -> None:
    page = ROOT / "docs" / "memory.md"
    text = page.read_text()
    start, end = "<!-- peak: written by make peak-truth -->", "<!-- end of peak -->"
    before, after = text[: text.index(start)], text[text.index(end) :]
    far = [one for one in reversed(outcomes) if one.factor > 1.1]
    lines = [start, summary(outcomes), ""]
    lines += ["| further off than a tenth, in MB | XLA | estimate |", "|---|--:|--:|"]
    lines += [f"| {one.name} | {one.truth / 1e6:.0f} | {one.estimate / 1e6:.0f} |" for one in far]
    page.write_text(before + "\n".join([*lines, after]))


if __name__ == "__main__":
    sys.exit(main())
