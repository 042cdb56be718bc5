"""What a person wants to know of a program, as text in aligned columns."""

from collections.abc import Sequence
from typing import Any

from plimsoll.ir import Module
from plimsoll.units import byte_text

# A type or name that is longer would push the columns after it off the screen.
_WIDEST = 60


def describe(module: Module, largest: int = 20) -> str:
    """A module's arguments, results, ops by kind, and its `largest` biggest values."""
    summary = module.summary(largest)
    main = summary["main"]
    parts = [_heading(summary)]
    if main is not None:
        parts += [
            section(
                f"arguments of {main}",
                [
                    (value["name"], value["type"], byte_text(value["bytes"]), value["source"])
                    for value in summary["arguments"]
                ],
                "llrl",
            ),
            section(
                f"results of {main}",
                [
                    (str(index), value["type"], byte_text(value["bytes"]))
                    for index, value in enumerate(summary["results"])
                ],
                "rlr",
            ),
        ]
    parts.append(
        section(
            "ops by kind",
            [(str(kind["count"]), kind["op"]) for kind in summary["ops_by_kind"]],
            "rl",
        )
    )
    if largest > 0:
        parts.append(section_of_values(summary["largest"]))
    parts.append(_totals(summary))
    return "\n\n".join(parts)


def section_of_values(values: Sequence[dict[str, Any]]) -> str:
    """The biggest values of a program, each with the user's source line."""
    rows = [
        (byte_text(value["bytes"]), value["type"], value["op"], value["source"]) for value in values
    ]
    return section("largest values", rows, "rlll")


def _heading(summary: dict[str, Any]) -> str:
    name = f"module {summary['module']}" if summary["module"] else "module"
    functions = count_text(summary["functions"], "function")
    return f"{name}: {functions}, {count_text(summary['ops'], 'op')}"


def _totals(summary: dict[str, Any]) -> str:
    rows = [
        ("all arguments", _sum_bytes(summary["arguments"])),
        ("all results", _sum_bytes(summary["results"])),
        # Not the peak: most values are gone before the last ones are made.
        ("all values, as if all lived at once", byte_text(summary["total_bytes"])),
    ]
    if summary["unknown_sizes"]:
        rows.append(("values whose size is known only at run time", str(summary["unknown_sizes"])))
    return section("totals", rows, "lr")


def _sum_bytes(values: Sequence[dict[str, Any]]) -> str:
    known = byte_text(sum(value["bytes"] or 0 for value in values))
    return known if all(value["bytes"] is not None for value in values) else f"more than {known}"


def count_text(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def section(title: str, rows: Sequence[Sequence[str]], alignment: str) -> str:
    """A title and rows in columns, each column aligned left ("l") or right ("r")."""
    if not rows:
        return f"{title}\n  none"
    rows = [[_shorten(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [title]
    for row in rows:
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, alignment, strict=True)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return "\n".join(lines)


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 3]}..."
