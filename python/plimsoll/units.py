"""Numbers as people write and read them."""

import argparse


def byte_text(count: int | None) -> str:
    """The size in binary units, such as "1.5 MiB"; "?" if it is not known."""
    if count is None:
        return "?"
    if abs(count) < 1024:
        return f"{count} B"
    size = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        size /= 1024
        # What would be printed as 1024.0 belongs to the next unit.
        if abs(size) < 1023.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} EiB"


def limit_text(count: int) -> str:
    """The smallest limit in whole MiB that allows `count` bytes, as a user would write it."""
    return f"{-(-count // 2**20)}MiB"


def whole_number(text: str) -> int:
    """For an option that takes a number which is not negative."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return int(text)
