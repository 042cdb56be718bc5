"""The user's own line that is being run."""

import functools
import os
import sys
import sysconfig
from pathlib import Path


def user_line() -> str:
    """The innermost line of the user's code, such as "train.py:41"; "" if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


@functools.cache
def _is_users(file: str) -> bool:
    if file.startswith(("<frozen", *_folders_of_jax())):
        return False
    paths = sysconfig.get_paths()
    # Packages are users of JAX, and lie inside the folder of Python's own library.
    is_package = file.startswith((_folder(paths["purelib"]), _folder(paths["platlib"])))
    return is_package or not file.startswith(_folder(paths["stdlib"]))


@functools.cache
def _folders_of_jax() -> tuple[str, ...]:
    import jax
    import jaxlib

    return tuple(_folder(Path(file).parent) for file in (jax.__file__, jaxlib.__file__, __file__))


def _folder(path: str | Path) -> str:
    return f"{path}{os.sep}"
