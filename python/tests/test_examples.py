"""The examples and the demo run."""

import subprocess
import sys

from conftest import ROOT


def run(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_kernel_product():
    output = run(sys.executable, ROOT / "examples" / "kernel_product.py", "200")
    assert output.startswith("n = 200, checksum ")


def test_demo():
    output = run(sys.executable, ROOT / "scripts" / "demo", "300")
    assert "tensor<300x300xf32>" in output
    assert "The same: " in output
    assert output.splitlines()[-1].startswith("Refused: ")
