"""Measures one program: a child process for each thing that is asked of it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.squeeze.table import Program

ROOT = Path(__file__).parents[2]
# Of the process, not of the program.
NOISE = 32_000_000
# An error of rounding alone; what is under it is no loss of precision.
LEAST_ERROR = 1e-6
MOST_SECONDS = 300
# Of timing, for each limit.
SECONDS = 2
# Of the search for the smallest limit.
STEPS = 2


@dataclass(frozen=True)
class Options:
    fractions: tuple[int, ...]
    # Whether the smallest limit is looked for, float64 compared with, and time taken at length.
    is_full: bool = True


@dataclass
class Row:
    """What was found out about one program. Sizes are bytes."""

    name: str
    title: str
    package: str
    commit: str
    # What stopped a measurement of XLA itself, or the search.
    failures: list[str] = field(default_factory=list)
    # Of XLA without a limit: need, held, peak, compile_seconds, run_seconds, error.
    plain: dict[str, Any] = field(default_factory=dict)
    # By what the limit is ("1/10", "smallest", "paper"): is_held, limit, peak, times, error.
    limits: dict[str, dict[str, Any]] = field(default_factory=dict)
    # All limits asked for in the search.
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def temporaries(self) -> int:
        """With the scratch of library calls, which XLA does not count."""
        return self.plain["need"]["temporaries"] + self.plain["need"]["scratch"]

    @property
    def base(self) -> int:
        """What no change of the program can save: arguments, results, constants, code, and other
        arrays of the process, such as arguments that the program does not use."""
        return self.needed - self.temporaries

    @property
    def needed(self) -> int:
        """The smallest limit that XLA's own program fits in."""
        return self.plain["need"]["total"] + self.plain["held"]

    @property
    def smallest(self) -> int | None:
        """The smallest limit that was held."""
        return min((one["limit"] for one in self._all() if one["is_held"]), default=None)

    @property
    def alarms(self) -> list[str]:
        """What must not be: crashes, and limits that were not kept to or not held as promised."""
        found = [f"{self.name}: {failure}" for failure in self.failures]
        for label, one in self.limits.items():
            if "failure" in one:
                found.append(f"{self.name} at {label}: {one['failure']}")
            if one["is_held"] and one["over"] > NOISE:
                found.append(f"{self.name} at {label}: {one['over'] / 1e6:.0f} MB over the limit")
        for one in self.asked:
            if one.get("is_claimed") and not one["is_held"]:
                found.append(
                    f"{self.name}: the error's own limit of {one['limit'] / 1e6:.0f} MB was refused"
                )
        held = self.smallest
        refused = [one["limit"] for one in self._all() if "reason" in one]
        if held is not None and refused and max(refused) > held:
            found.append(
                f"{self.name}: {max(refused) / 1e6:.1f} MB is refused, {held / 1e6:.1f} MB is held"
            )
        return found

    def _all(self) -> Iterable[dict[str, Any]]:
        return [*self.limits.values(), *self.asked]


def measure(program: Program, options: Options, commit: str, folder: Path) -> Row:
    """One row. `folder` is for the results, which are compared."""
    row = Row(program.name, program.title, program.package, commit)
    plain_results = folder / "plain.npz"
    answers, failure = _child("plain", program, f"--outputs={plain_results}")
    if failure:
        row.failures.append(f"plain XLA: {failure}")
        return row
    row.plain = answers[-1]
    reference = plain_results
    if options.is_full and program.has_reference:
        wide_results = folder / "float64.npz"
        _, failure = _child("float64", program, f"--outputs={wide_results}")
        if failure:
            row.failures.append(f"float64: {failure}")
        else:
            reference = wide_results
            row.plain["error"] = max(errors(plain_results, reference).values(), default=0.0)
    if options.is_full:
        limits = f"--limits={row.base},{row.needed}"
        row.asked, failure = _child("ask", program, limits, f"--steps={STEPS}")
        if failure:
            row.failures.append(f"search: {failure}")
    for label, limit in _limits(program, row, options):
        # The smallest limit has its price, which need not be known to the percent.
        seconds = SECONDS if options.is_full and label != "smallest" else 0
        row.limits[label] = _limited(program, row, limit, seconds, folder, reference)
    return row


def _limits(program: Program, row: Row, options: Options) -> list[tuple[str, int]]:
    limits = [
        (f"1/{fraction}", row.base + -(-row.temporaries // fraction))
        for fraction in options.fractions
    ]
    if program.limit:
        limits.append(("paper", program.limit))
    if options.is_full:
        limits.append(("smallest", row.smallest or row.needed))
    return limits


def _limited(
    program: Program, row: Row, limit: int, seconds: float, folder: Path, reference: Path
) -> dict[str, Any]:
    results = folder / "limited.npz"
    answers, failure = _child(
        "limited",
        program,
        f"--limit={limit}",
        f"--outputs={results}",
        f"--seconds={seconds}",
    )
    if failure:
        return {"limit": limit, "is_held": False, "failure": failure}
    one = answers[-1]
    if one["is_held"]:
        allowed = limit - row.plain["need"]["arguments"] - row.plain["held"]
        one["over"] = one["peak"] - allowed
        one["time_ratio"] = one["run_seconds"] / one["plain_run_seconds"]
        if "loops_run_seconds" in one:
            one["loops_time_ratio"] = one["loops_run_seconds"] / one["plain_run_seconds"]
        found = errors(results, reference)
        one["error"] = max(found.values(), default=0.0)
        if reference.name == "float64.npz":
            own = errors(folder / "plain.npz", reference)
            ratios = [found[leaf] / max(own[leaf], LEAST_ERROR) for leaf in found]
            one["error_ratio"] = max(ratios, default=0.0)
        one["indices_differ"] = _indices_differ(results, folder / "plain.npz")
    return one


def errors(results: Path, reference: Path) -> dict[str, float]:
    """The largest difference of each result, by the largest value of the reference."""
    found = {}
    with np.load(results) as ours, np.load(reference) as theirs:
        for leaf in ours.files:
            value, wanted = ours[leaf], theirs[leaf]
            if value.size == 0 or not np.issubdtype(value.dtype, np.inexact):
                continue
            most = np.abs(wanted).max()
            difference = np.abs(value - wanted).max()
            found[leaf] = float(difference / most) if most else float(difference)
    return found


def _indices_differ(results: Path, reference: Path) -> float:
    """The largest share of a result of integers that differs."""
    shares = [0.0]
    with np.load(results) as ours, np.load(reference) as theirs:
        for leaf in ours.files:
            if ours[leaf].size and not np.issubdtype(ours[leaf].dtype, np.inexact):
                shares.append(float((ours[leaf] != theirs[leaf]).mean()))
    return max(shares)


def _child(action: str, program: Program, *options: str) -> tuple[list[dict[str, Any]], str]:
    """The answers of a child process, and what ended it before its time; "" if nothing did."""
    drop = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "PLIMSOLL_MEMORY_LIMIT")
    environment = {name: value for name, value in os.environ.items() if name not in drop}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    if action == "float64":
        environment["PLIMSOLL"] = "off"
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.squeeze.child"]
    try:
        child = subprocess.run(
            [*command, action, program.name, *options],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
        output, status, complaint = child.stdout, child.returncode, child.stderr
    except subprocess.TimeoutExpired as expired:
        output, status, complaint = (expired.stdout or b"").decode(), None, ""
    answers = []
    for line in output.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
            if "message" in answer:
                reason, _, details = _without_places(answer.pop("message")).partition("\n")
                answer |= {"reason": reason, "details": details}
            answers.append(answer)
    return answers, _failure(status, complaint, bool(answers))


def _failure(status: int | None, complaint: str, has_answered: bool) -> str:
    if status is None:
        return f"took more than {MOST_SECONDS} s"
    if status == -9:
        return "killed: out of memory"
    if status:
        # JAX ends its tracebacks with a hint on how to make them longer.
        lines = [line for line in complaint.splitlines() if re.match(r"[\w.]*(Error|Exit)\b", line)]
        last = lines[-1] if lines else complaint.strip()[-300:]
        return _without_places(f"exit status {status}: {last}")
    return "" if has_answered else "no answer"


def _without_places(text: str) -> str:
    """A message without the folders of this machine."""
    text = re.sub(r"; compiled at \S+", "", text)
    return re.sub(r"(?<=[\s(])/\S*/", "", text)
