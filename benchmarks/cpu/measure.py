"""Measures one row: a fresh process for each contender, in turns."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.cpu.rivals import RIVALS, THREADS
from benchmarks.cpu.table import ROWS, Row

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 600
# Of timing, of each contender in each of its processes.
SECONDS, QUICK_SECONDS = 2.0, 0.2
# A run as long as this, in seconds, is not repeated in another process.
LONG_RUN = 10.0
# The parts of XLA's temporaries that are given as limits, in the search for the fastest.
FRACTIONS = (4, 32, 256)
# A value is never whole if all temporaries together are so many times smaller.
NEVER_WHOLE = 2
# How much less exact than XLA a result may be, and what is never too much.
MOST_WORSE, LEAST_ERROR = 2, 1e-6

NAMES = {
    "xla": "XLA",
    "loop": "our loop",
    "kernel": "our kernel",
    "keops": "KeOps",
    "faiss": "FAISS",
    "torch": "PyTorch",
    "hand": "C++ by hand",
}

# By contender, what its child answered.
Answers = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Ratio:
    """How many times better than something the kernel is, and shall be."""

    than: str
    asked: float
    # None if one of the two did not run.
    found: float | None

    @property
    def is_reached(self) -> bool:
        return self.found is not None and self.found >= self.asked


def measure(row: Row, is_quick: bool, folder: Path) -> Answers:
    """`folder` is for results, which are compared, and for what KeOps compiles."""
    answers: Answers = {"exact": _child("exact", row, folder, is_quick)}
    contenders = ["xla", "loop", "kernel", *(one for one in RIVALS if one in row.goals)]
    for one in contenders:
        limits = _limits(answers["xla"]) if one in ("loop", "kernel") else [0]
        answers[one] = _child(one, row, folder, is_quick, "--limits=" + ",".join(map(str, limits)))
        answers[one]["error"] = _error(folder / f"{one}.npz", folder / "exact.npz")
    if not is_quick:
        for one in contenders:
            _measure_again(one, row, folder, answers[one])
    return answers


def ratios(row: Row, rows: dict[str, Answers], is_quick: bool = False) -> list[Ratio]:
    """What is asked of a row that was measured."""
    answers = rows[row.name]
    found = [
        Ratio(NAMES[one], asked, _quotient(answers, "kernel", answers, one))
        for one, asked in row.goals.items()
    ]
    if row.against:
        name, asked = row.against
        other = rows.get(name, {})
        title = f"“{ROWS[name].title}”"
        found.append(Ratio(title, asked, _quotient(answers, "kernel", other, "kernel")))
    if row.never_whole:
        taken = answers["kernel"].get("temporaries")
        share = row.whole_bytes(is_quick) / max(1, taken) if taken is not None else None
        found.append(Ratio("the whole value, in memory", NEVER_WHOLE, share))
    return found


def alarms(row: Row, answers: Answers) -> list[str]:
    """What must not be: failures of our own, and results that are less exact than XLA's."""
    own = ("exact", "loop", "kernel")
    found = [
        f"{row.name}: {one}: {_failure(answers, one)}" for one in own if _failure(answers, one)
    ]
    plain = answers["xla"].get("error")
    for one in ("loop", "kernel"):
        error = answers[one].get("error")
        if None not in (error, plain) and error > MOST_WORSE * plain + LEAST_ERROR:
            found.append(f"{row.name}: error of {NAMES[one]} {error:.1e}, of XLA {plain:.1e}")
    return found


def _measure_again(contender: str, row: Row, folder: Path, answer: dict[str, Any]) -> None:
    """A busy minute of the machine shall not be one contender's own."""
    if answer.get("seconds", LONG_RUN) >= LONG_RUN:
        return
    if contender in RIVALS:
        again = _child(contender, row, folder, False)
    else:
        choice = f"--form={answer['form']}", f"--limits={answer['limit']}"
        again = _child(contender, row, folder, False, *choice)
    if "seconds" not in again:
        return
    answer["seconds"] = min(answer["seconds"], again["seconds"])
    if contender not in RIVALS:
        # Now nothing was compiled before it, and its kernels are on the disk.
        answer["first_seconds"] = again["first_seconds"]
        answer["made"] = again["made"] | answer["made"]


def _limits(plain: dict[str, Any]) -> list[int]:
    """Where the fastest is looked for; 0 for speed alone."""
    if "temporaries" not in plain:
        return [0]
    return [0, *(plain["fixed"] + plain["temporaries"] // part for part in FRACTIONS)]


def _failure(answers: Answers, contender: str) -> str:
    return answers[contender].get("failure", "")


def _quotient(ours: Answers, contender: str, others: Answers, other: str) -> float | None:
    own_seconds = ours.get(contender, {}).get("seconds")
    seconds = others.get(other, {}).get("seconds")
    return seconds / own_seconds if own_seconds and seconds else None


def _error(results: Path, reference: Path) -> float | None:
    """The largest difference of floats, by the largest value of the reference."""
    if not results.exists() or not reference.exists():
        return None
    errors = []
    with np.load(results) as ours, np.load(reference) as theirs:
        for leaf in ours.files:
            value, wanted = ours[leaf], theirs[leaf]
            if np.issubdtype(wanted.dtype, np.inexact):
                difference = np.abs(value.astype(np.float64) - wanted).max()
                errors.append(float(difference / np.abs(wanted).max()))
    return max(errors, default=None)


def _child(contender: str, row: Row, folder: Path, is_quick: bool, *options: str) -> dict[str, Any]:
    """The answer of a process of its own, or what ended it before its time."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cpu.child", contender, row.name]
    command.append(f"--outputs={folder / contender}.npz")
    command.append(f"--seconds={QUICK_SECONDS if is_quick else SECONDS}")
    command += ["--quick"] * is_quick
    command += options
    try:
        child = subprocess.run(
            command,
            cwd=ROOT,
            env=_environment(contender, folder),
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"took more than {MOST_SECONDS} s"}
    answers = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode == -9:
        return {"failure": "killed: out of memory"}
    if child.returncode or not answers:
        lines = child.stderr.strip().splitlines()
        return {"failure": lines[-1] if lines else f"exit status {child.returncode}"}
    return json.loads(answers[-1])


def _environment(contender: str, folder: Path) -> dict[str, str]:
    drop = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "PLIMSOLL_")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(drop)}
    for library in ("OMP", "MKL", "OPENBLAS"):
        environment[f"{library}_NUM_THREADS"] = str(THREADS)
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    # KeOps compiles with -O3, but for any machine if nobody tells it otherwise.
    environment |= {"KEOPS_CACHE_FOLDER": str(folder / "keops"), "CXXFLAGS": "-march=native"}
    # The first process of a row generates its kernels.
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    if contender not in ("loop", "kernel"):
        environment["PLIMSOLL"] = "off"
    if contender != "kernel":
        environment["PLIMSOLL_DISABLE"] = "kernels"
    return environment
