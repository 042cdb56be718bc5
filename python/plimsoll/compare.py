"""The command `plimsoll check`: runs a program as it is and under a limit, and compares the two."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from plimsoll.errors import PlimsollError
from plimsoll.limits import parse_limit
from plimsoll.load import load_module
from plimsoll.run import time_text
from plimsoll.show import section
from plimsoll.units import byte_text

# What a process takes for itself while it runs.
NOISE = 32 * 10**6
# Sums in another order differ by some of the last digits, in small types by more of their few.
_DIGITS_LOST = 1000
_LARGEST_TOLERANCE = 0.05


@dataclass(frozen=True)
class Difference:
    """How far a result of the limited run is from that of the program as it is."""

    type: str
    error: float
    """The norm of the difference over the norm of the result, where both are finite."""
    tolerance: float

    @property
    def is_small(self) -> bool:
        return self.error <= self.tolerance


def check(options: argparse.Namespace) -> None:
    """Runs the command. The exit status is 1 if the two differ or the limit was not held."""
    limit = parse_limit(options.memory_limit, "--memory-limit")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "program.mlir"
        program.write_bytes(load_module(options.file).text_bytes())
        whole = _run(program, "none", options.seed, folder / "whole")
        if "available" in whole:
            raise PlimsollError(
                "PL301",
                f"the program as it is needs {byte_text(whole['need'])}, and this machine has"
                f" {byte_text(whole['available'])}: there is nothing to compare with",
            )
        limited = _run(program, limit.text, options.seed, folder / "limited")
        if "refused" in limited:
            raise PlimsollError("PL401", limited["refused"])
        differences = [
            difference(folder / "whole" / f"{i}.npy", folder / "limited" / f"{i}.npy", dtype)
            for i, dtype in enumerate(whole["types"])
        ]
    print(_text(whole, limited, differences))
    problems = []
    if not all(one.is_small for one in differences):
        problems.append("the results differ by more than rounding")
    if limit.bytes is not None and limited["measured"] > limit.bytes + NOISE:
        problems.append(f"the limit of {limit.text} was not held")
    print("; ".join(problems) or "the same, and within the limit")
    if problems:
        raise SystemExit(1)


def _run(program: Path, limit: str, seed: int, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    # The child finds the packages where this process would find them.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.run(
        [sys.executable, "-m", "plimsoll.compare_child", program, limit, str(seed), folder],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    if child.returncode != 0:
        which = "as it is" if limit == "none" else f"under {limit}"
        raise PlimsollError(
            "PL301", f"the program {which} ended its process with status {child.returncode}"
        )
    return json.loads(child.stdout.splitlines()[-1])


def difference(whole: Path, limited: Path, dtype: str) -> Difference:
    """Compares two results, which are saved under these names."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = (np.load(path).view(kind) for path in (whole, limited))
    if kind == np.bool_ or "int" in kind.name:
        return Difference(kind.name, float(np.mean(a != b)) if a.size else 0.0, 0.0)
    tolerance = min(_DIGITS_LOST * float(ml_dtypes.finfo(kind).eps), _LARGEST_TOLERANCE)
    wide = np.complex128 if kind.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    is_finite = np.isfinite(a)
    if not np.array_equal(is_finite, np.isfinite(b)):
        return Difference(kind.name, float("inf"), tolerance)
    a, b = a[is_finite], b[is_finite]
    norm = float(np.linalg.norm(a))
    error = float(np.linalg.norm(a - b))
    return Difference(kind.name, error / norm if norm else error, tolerance)


def _text(whole: dict[str, Any], limited: dict[str, Any], differences: list[Difference]) -> str:
    rows = [
        ("", "as it is", "limited"),
        ("needs, by XLA", byte_text(whole["need"]), byte_text(limited["need"])),
        ("measured", byte_text(whole["measured"]), byte_text(limited["measured"])),
        ("time", time_text(whole["seconds"]), time_text(limited["seconds"])),
    ]
    results = [
        (str(number), one.type, f"{one.error:.1e}", f"{one.tolerance:.1e} is allowed")
        for number, one in enumerate(differences)
    ]
    return "\n".join(
        [section("memory and time", rows, "lrr"), section("results, error", results, "rlrl")]
    )
