"""Runs JAX's own tests without Plimsoll, with it, and with every program taken through the graph.

    python python/tests/jax_suite.py FOLDER [FILE...] [--json OUT]

FOLDER is a checkout of JAX at the version that is installed; none of it is kept here. The very same
tests must pass each time, and those that do not are listed. A campaign of hours, so no part of
`make test`, which has a smaller set of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

FILES = (
    "lax_test lax_numpy_test lax_control_flow_test api_test pjit_test shard_map_test aot_test"
    " export_test custom_api_test linalg_test random_test scipy_stats_test compilation_cache_test"
    " memories_test python_callback_test buffer_callback_test"
).split()
MODES = {
    "plain": {"PLIMSOLL": "off"},
    "hooked": {},
    "round trip": {"PLIMSOLL_FORCE_ROUNDTRIP": "1"},
}
# A test that hangs must not hold up the campaign.
SECONDS_A_FILE = 3600


def outcomes(folder: Path, name: str, environment: dict[str, str], cases: int) -> dict[str, str]:
    """What became of each test of one file: passed, skipped, failed or error."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            f"tests/{name}.py",
            f"--junitxml={file.name}",
        ]
        command += ["--numprocesses", str(os.cpu_count()), "-p", "no:cacheprovider"]
        settings = {"JAX_NUM_GENERATED_CASES": str(cases), "JAX_PLATFORMS": "cpu"}
        subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **settings, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS_A_FILE,
        )
        found = {}
        for case in ElementTree.parse(file.name).iter("testcase"):
            kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
            identifier = f"{case.get('classname')}.{case.get('name')}"
            found[identifier] = min(kinds, default="passed")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a checkout of JAX")
    parser.add_argument("files", nargs="*", default=FILES, help="test files, without .py")
    parser.add_argument("--cases", type=int, default=10, help="generated cases a test (10)")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    options = parser.parse_args()
    everything = {}
    differing = 0
    for name in options.files:
        if not (options.folder / "tests" / f"{name}.py").exists():
            print(f"{name}: not in this version of JAX", flush=True)
            continue
        found = {
            mode: outcomes(options.folder, name, environment, options.cases)
            for mode, environment in MODES.items()
        }
        everything[name] = found
        counts = {mode: list(tests.values()).count("passed") for mode, tests in found.items()}
        print(f"{name}: {len(found['plain'])} tests; passed {counts}", flush=True)
        for mode in ("hooked", "round trip"):
            for test in sorted(found["plain"].keys() | found[mode].keys()):
                before, after = found["plain"].get(test), found[mode].get(test)
                if before != after:
                    differing += 1
                    print(f"  {mode}: {test}: {before} -> {after}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1) + "\n")
    total = sum(len(found["plain"]) for found in everything.values())
    print(f"{total} tests in {len(everything)} files, {differing} outcomes differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
