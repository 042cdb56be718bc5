"""Lets PyTorch's usual wheel be imported without the gigabytes of GPU libraries that it wants.

    python benchmarks/cpu/stand_ins.py

It asks for them when it is loaded, whether there is a GPU or not. Stand-ins take their names: every
function in them says that there is no device, and nothing that runs on the processor calls one.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

GPU_LIBRARY = re.compile(r"lib(cu|nv|nccl)")
GPU_FUNCTION = re.compile(r"_*(cu|nv|nccl)\w+$")
NO_DEVICE = 100  # cudaErrorNoDevice


def main() -> int:
    package = importlib.util.find_spec("torch")
    if package is None or package.origin is None:
        print("there is no torch in this environment", file=sys.stderr)
        return 1
    folder = Path(package.origin).parent / "lib"
    own = sorted(folder.glob("*.so*"))
    needed = {
        name
        for name in _lines("llvm-readelf-22", "--needed-libs", *own)
        if GPU_LIBRARY.match(name) and not (folder / name).exists()
    }
    undefined = {
        name.partition("@")[0]
        for name in _lines(
            "llvm-nm-22", "--dynamic", "--undefined-only", "--just-symbol-name", *own
        )
    }
    functions = sorted(name for name in undefined if GPU_FUNCTION.match(name))
    source = "".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in functions)
    for name in sorted(needed):
        options = ["-x", "c", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{name}"]
        command = ["clang-22", *options, "-", "-o", folder / name]
        subprocess.run(command, input=source, text=True, check=True)
    return 0


def _lines(*command: str | Path) -> list[str]:
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.strip() for line in found.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
