"""Pretty text made readable for the core, with the MLIR that jaxlib ships.

The core reads portable artifacts, generic text, and MLIR bytecode as far as it knows its dialects.
What JAX prints (`jax.jit(f).lower(x).as_text()`) and bytecode of other dialects have no stable
form, so the MLIR that belongs to the installed JAX reads them. It does so in a process of its own
(mlir_child.py): hostile input can crash MLIR's parsers, and must not crash the caller.
"""

import mmap
import os
import re
import subprocess
import sys

from plimsoll import mlir_child
from plimsoll.errors import PlimsollError

Buffer = bytes | bytearray | memoryview | mmap.mmap

BYTECODE_MAGIC = b"ML\xefR"

# A line that only generic text has.
_GENERIC_LINE = re.compile(rb'^\s*"(builtin\.module|func\.func)"\(', re.MULTILINE)
# MLIR's complaint: error: "-":3:91: what is wrong
_MLIR_ERROR = re.compile(r'^error: "-":(\d+):(\d+): (.*)$', re.MULTILINE)


def can_help(program: Buffer, refusal: PlimsollError) -> bool:
    """True if the core refused `program` for being in a form that jaxlib's MLIR reads."""
    head = bytes(memoryview(program)[:4096])
    if head.startswith(BYTECODE_MAGIC):
        # The producer's name follows the magic and the format's version. A portable artifact that
        # the core does not understand stays refused: its versions carry a promise, and the refusal
        # says which one was broken.
        is_portable = head[5:].startswith(b"StableHLO_v")
        return refusal.code == "PL103" and not is_portable
    is_binary = b"\0" in head
    return (
        refusal.code in ("PL100", "PL102") and not is_binary and not _GENERIC_LINE.search(program)
    )


def to_generic_text(program: Buffer, name: str, refusal: PlimsollError) -> bytes:
    """Returns `program` as generic text with its locations.

    `name` stands for the program in messages. If this does not work either, the more helpful one of
    `refusal`, which is what the core said, and MLIR's own message is raised.
    """
    command = [sys.executable, "-P", mlir_child.__file__]
    # The child finds jaxlib where this process would find it.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Far more than a program of this size takes, but an end all the same.
    seconds = 60 + memoryview(program).nbytes / 1e5
    try:
        child = subprocess.run(
            command, input=program, capture_output=True, env=environment, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise _extended(refusal, f"jaxlib's MLIR did not read it in {seconds:.0f} s") from None
    if child.returncode == 0:
        return child.stdout
    if child.returncode == mlir_child.NO_JAXLIB:
        raise _extended(refusal, "to read MLIR's pretty text or native bytecode, install jaxlib")
    if child.returncode != mlir_child.REFUSED:
        raise _extended(refusal, "jaxlib's MLIR crashed on it")
    complaint = child.stderr.decode(errors="replace").strip()
    if found := _MLIR_ERROR.search(complaint):
        line, column, message = found.groups()
        is_text = line != "0"
        complaint = f"{name}:{line}:{column}: {message}" if is_text else f"{name}: {message}"
    if refusal.code == "PL102":
        raise PlimsollError("PL102", complaint)
    raise _extended(refusal, f"jaxlib's MLIR does not read it either: {complaint}")


def _extended(refusal: PlimsollError, remark: str) -> PlimsollError:
    return PlimsollError(refusal.code, f"{refusal.message}; {remark}")
