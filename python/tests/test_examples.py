"""The examples and the demo run."""

import re
import subprocess
import sys

from conftest import ROOT


def run(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_kernel_product():
    output = run(sys.executable, ROOT / "examples" / "kernel_product.py", "200")
    assert output.startswith("n = 200, checksum ")


def test_kernel_ridge():
    output = run(sys.executable, ROOT / "examples" / "kernel_ridge.py", "200", "2")
    first, second = (float(line.rpartition(" ")[2]) for line in output.splitlines())
    assert second < first


def test_gaussian_process():
    output = run(sys.executable, ROOT / "examples" / "gaussian_process.py", "200")
    assert output.startswith("n = 200, log likelihood ")


def test_demo():
    output = run(sys.executable, ROOT / "scripts" / "demo", "300", "20000")
    assert "tensor<300x300xf32>" in output
    assert "The same: " in output
    assert re.search(r"^plimsoll: step \S+ GiB -> .*: \d+ kernels? ", output, re.MULTILINE)
    assert "Held: " in output
    assert output.splitlines()[-1].startswith("Refused: ")
