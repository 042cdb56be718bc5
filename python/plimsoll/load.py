"""Programs from files."""

import errno
import mmap
import os
import stat
import sys

from plimsoll import ir
from plimsoll.errors import PlimsollError

_EXPECTED = "expected a StableHLO program (portable artifact, MLIR bytecode or MLIR text)"


def load_module(path: str | os.PathLike[str]) -> ir.Module:
    """Reads the program in the file `path`, in any form that `ir.parse` takes.

    "-" is standard input.
    """
    name = "<stdin>" if path == "-" else os.fspath(path)
    try:
        data = sys.stdin.buffer.read() if path == "-" else _read(name)
    except OSError as error:
        raise PlimsollError("PL201", f"{name}: {_EXPECTED}, found {_describe(error)}") from None
    if len(data) == 0:
        raise PlimsollError("PL201", f"{name}: {_EXPECTED}, found an empty file")
    return ir.parse(data, name)


def _read(path: str) -> bytes | mmap.mmap:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        # Only a plain file can be mapped, and only one that has bytes.
        if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
            return file.read()
        # The module borrows its large constants from here, so they are not copied even once.
        # ACCESS_COPY gives a private mapping whose address ctypes can take; nothing writes to it.
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _describe(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "no such file"
        case errno.EISDIR:
            return "a directory"
        case errno.EACCES:
            return "a file that may not be read (permission denied)"
    return f"a file that cannot be read ({error.strerror})"
