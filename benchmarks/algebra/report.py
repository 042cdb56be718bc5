"""The results as JSON and as tables."""

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.algebra.cartpole import CARTPOLE
from benchmarks.algebra.linnea import LINNEA
from benchmarks.algebra.rules import RULES
from benchmarks.algebra.table import PROGRAMS
from benchmarks.squeeze.report import machine

from plimsoll import ir

Rows = dict[str, dict[str, Any]]


def read(folder: Path) -> Rows:
    """The rows written before, if this machine wrote them."""
    path = folder / "algebra.json"
    if not path.exists():
        return {}
    results = json.loads(path.read_text())
    return results["programs"] if results["machine"] == machine() else {}


def write(folder: Path, rows: Rows) -> None:
    folder.mkdir(exist_ok=True)
    results = {"machine": machine(), "programs": rows}
    (folder / "algebra.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "algebra.md").write_text(page(rows))
    path = folder.parents[1] / "docs" / "rules.md"
    path.write_text(with_rules(path.read_text(), rows))


def with_rules(page: str, rows: Rows) -> str:
    """The page with the rows of its table of rules as they should be."""
    lines = page.splitlines(keepends=True)
    places = [k for k, line in enumerate(lines) if line.startswith("| `")]
    made = [_rule_row(rule, rows.get(rule["name"])) + "\n" for rule in ir.rules()]
    lines[places[0] : places[-1] + 1] = made
    return "".join(lines)


def line(name: str, row: dict[str, Any]) -> str:
    """What is printed when a program is done."""
    if "failure" in row:
        return f"{name:26} !!! {row['failure']}"
    times, peaks, limits = row["seconds"], row["temporaries"], row["limits"]
    return (
        f"{name:26} {_ms(times[0]):>9} -> {_ms(times[1]):>9} ms, temporaries {_mb(peaks[0]):>6} ->"
        f" {_mb(peaks[1]):>6} MB, smallest limit {_mb(limits[0])} -> {_mb(limits[1])} MB;"
        f" {', '.join(row['rules']) or 'no rule'}"
    )


def summary(rows: Rows) -> str:
    lines = []
    for title, chosen in (("programs", _written(rows)), (LINNEA, _of(rows, LINNEA))):
        done = [row for row in chosen.values() if "failure" not in row]
        if not done:
            continue
        changed = [row for row in done if row["is_changed"]]
        lines.append(f"{title}: {len(done)}, {len(changed)} changed for speed")
        if changed:
            lines.append(
                f"  of these: {_spread(changed, 'seconds')} in time,"
                f" {_spread(changed, 'temporaries')} in temporaries,"
                f" {_spread(changed, 'flops')} in operations; in time at worst"
                f" {min(_ratio(row['seconds']) for row in changed):.2f}"
            )
        lines.append(f"  smallest limit: {_spread(done, 'limits')}")
    errors = [
        (row["errors"][1] / max(row["errors"][0], 1e-7), name)
        for name, row in rows.items()
        if "failure" not in row
    ]
    if errors:
        lines.append(f"largest error, of XLA's own: {max(errors)[0]:.1f} ({max(errors)[1]})")
    failures = [name for name, row in rows.items() if "failure" in row]
    lines.append(f"failures: {', '.join(failures) or 'none'}")
    return "\n".join(lines)


def page(rows: Rows) -> str:
    where = machine()
    lines = [
        "# Algebra: what its rules are worth",
        "",
        f"{where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, JAX {where['jax']};"
        " written by `make algebra`.",
        "",
        "Plain XLA → with `PLIMSOLL_OPTIMIZE=speed`. Times are the least of several runs of both"
        " programs in turns, in ms. Temporaries are those of XLA's memory statistics and the"
        " scratch of its libraries, in MB. *Smallest limit* is what Plimsoll says it can hold"
        " with all rules switched off → with algebra, in MB, arguments and results included."
        " *Error* is against float64, plain → with rules.",
        "",
        "```text",
        summary(rows),
        "```",
        "",
        "## Programs as people write them",
        "",
        "| program | time | faster | temporaries | smallest limit | error | rules |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for group in dict.fromkeys(PROGRAMS[name].group for name in _written(rows)):
        lines.append(f"| **{group}** | | | | | | |")
        lines += [_row(name, row) for name, row in _of(rows, group).items()]
    lines += ["", "## The examples of Linnea", ""]
    lines += ["| example | operations | fewer | temporaries | time | faster | error | rules |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|---|"]
    lines += [_linnea_row(name, row) for name, row in _of(rows, LINNEA).items()]
    lines += ["", "## CartPole", ""]
    lines += [
        "| state | plain, ms | speed, ms | of the state in pieces, plain |",
        "|---|--:|--:|--:|",
    ]
    lines += _cartpole_rows(_of(rows, CARTPOLE))
    return "\n".join(lines) + "\n"


def _row(name: str, row: dict[str, Any]) -> str:
    title = PROGRAMS[name].title
    if "failure" in row:
        return f"| {title} | {row['failure']} | | | | | |"
    cells = [
        title,
        _pair(row["seconds"], _ms),
        f"{_ratio(row['seconds']):.2f}",
        _pair(row["temporaries"], _mb),
        _pair(row["limits"], _mb),
        _pair(row["errors"], "{:.0e}".format),
        _rules(row),
    ]
    return "| " + " | ".join(cells) + " |"


def _rule_row(rule: dict[str, Any], row: dict[str, Any] | None) -> str:
    cells = [
        f"`{rule['name']}`",
        rule["pattern"],
        rule["result"],
        rule["guard"],
        "yes" if rule["strict"] else "",
    ]
    if row is None or "failure" in row:
        cells += [""] * 4
    else:
        cells += [
            PROGRAMS[rule["name"]].title,
            _pair(row["temporaries"], _mb),
            _pair(row["flops"], "{:.0e}".format),
            f"{_ratio(row['seconds']):.1f}",
        ]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def _linnea_row(name: str, row: dict[str, Any]) -> str:
    title = PROGRAMS[name].title
    if "failure" in row:
        return f"| {title} | {row['failure']} | | | | | | |"
    cells = [
        title,
        _pair(row["flops"], "{:.2e}".format),
        f"{_ratio(row['flops']):.2f}",
        _pair(row["temporaries"], _mb),
        _pair(row["seconds"], _ms),
        f"{_ratio(row['seconds']):.2f}",
        _pair(row["errors"], "{:.0e}".format),
        _rules(row),
    ]
    return "| " + " | ".join(cells) + " |"


def _cartpole_rows(rows: Rows) -> list[str]:
    best = rows.get("in_pieces", {}).get("seconds", [float("nan")])[0]
    lines = []
    for name, row in rows.items():
        title = PROGRAMS[name].title
        if "failure" in row:
            lines.append(f"| {title} | {row['failure']} | | |")
            continue
        plain, faster = row["seconds"]
        lines.append(f"| {title} | {_ms(plain)} | {_ms(faster)} | {faster / best:.2f} |")
    return lines


def _rules(row: dict[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in row["rules"])
    return names if row["is_changed"] or not names else f"left alone ({names})"


def _written(rows: Rows) -> Rows:
    """Neither Linnea's nor CartPole, nor a rule's own."""
    others = (LINNEA, CARTPOLE, RULES)
    return {name: row for name, row in rows.items() if PROGRAMS[name].group not in others}


def _of(rows: Rows, group: str) -> Rows:
    return {name: row for name, row in rows.items() if PROGRAMS[name].group == group}


def _ratio(pair: list[float]) -> float:
    """How many times less the second is; a byte more of both, as there may be none."""
    least = 1 if isinstance(pair[0], int) else 0
    return (pair[0] + least) / (pair[1] + least)


def _spread(rows: list[dict[str, Any]], key: str) -> str:
    ratios = [_ratio(row[key]) for row in rows]
    return f"{statistics.median(ratios):.2f} (median), {max(ratios):.1f} (best)"


def _pair(pair: list[Any], form: Any) -> str:
    first, second = form(pair[0]), form(pair[1])
    return first if first == second else f"{first} → {second}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def _mb(size: float) -> str:
    return f"{size / 1e6:.0f}" if size >= 1e7 else f"{size / 1e6:.2f}"
