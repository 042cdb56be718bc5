"""The results as JSON, as a table and as a summary; picture.py draws them."""

import json
import os
import statistics
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jaxlib.version
from benchmarks.squeeze.measure import Row
from benchmarks.squeeze.picture import picture

# A time that is longer by this factor under a larger limit, or with kernels than without, is more
# than noise.
SLOWER = 1.25
# Where kernels are compared with loops alone in the table.
COMPARED = "1/10"


def read(folder: Path) -> dict[str, Row]:
    """The rows written before, if this machine wrote them."""
    path = folder / "squeeze.json"
    if not path.exists():
        return {}
    results = json.loads(path.read_text())
    if results["machine"] != machine():
        return {}
    return {row["name"]: Row(**row) for row in results["programs"]}


def write(folder: Path, rows: list[Row]) -> None:
    folder.mkdir(exist_ok=True)
    results = {"machine": machine(), "programs": [asdict(row) for row in rows]}
    (folder / "squeeze.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "squeeze.md").write_text(page(rows))
    (folder / "squeeze.svg").write_text(picture(rows))


def machine() -> dict[str, Any]:
    with open("/proc/cpuinfo") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return {
        "cpu": models[0] if models else "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "jax": jaxlib.version.__version__,
    }


def line(row: Row) -> str:
    """What is printed when a program is done."""
    parts = [f"{label} {_cell(one)}{_loops(one)}" for label, one in row.limits.items()]
    taken = f"XLA {_mb(row.temporaries):>6} MB" if row.plain else "XLA failed"
    alarms = "".join(f"\n    !!! {text}" for text in row.alarms)
    return f"{row.name:24} {taken}; {', '.join(parts)}{alarms}"


def summary(rows: list[Row]) -> str:
    measured = [row for row in rows if row.plain]
    lines = [f"{len(rows)} programs, {sum(1 for row in rows if row.package)} of them of packages"]
    for label in labels(rows):
        lines.append(_summary_of_limit(label, [row for row in measured if label in row.limits]))
    lines += _summary_of_kernels([row.limits[COMPARED] for row in measured if _has_both(row)])
    shares = [_share(row) for row in measured if row.smallest is not None]
    if shares:
        lines.append(
            f"smallest limit held: median {statistics.median(shares):.2%} of XLA's temporaries"
        )
    alarms = [text for row in rows for text in row.alarms + _slower(row) + _slower_kernels(row)]
    lines.append(f"violations and failures: {len(alarms) or 'none'}")
    return "\n".join(lines + [f"  !!! {text}" for text in alarms])


def _summary_of_limit(label: str, rows: list[Row]) -> str:
    held = [row for row in rows if row.limits[label]["is_held"]]
    text = f"{label:>8}: {len(held)} of {len(rows)} held"

    def worst(key: str, form: Callable[[float], str]) -> str:
        values = [(row.limits[label][key], row.name) for row in held if key in row.limits[label]]
        return f"{form(max(values)[0])} ({max(values)[1]})" if values else "unknown"

    if held:
        ratios = [row.limits[label]["time_ratio"] for row in held]
        text += f"; time median {statistics.median(ratios):.2f}, worst "
        text += worst("time_ratio", "{:.2f}".format)
        text += f"; error at most {worst('error_ratio', '{:.1f}'.format)} of XLA's own"
        text += f"; peak at most {worst('over', lambda over: f'{over / 1e6:+.0f} MB')}"
    return text


def _summary_of_kernels(limits: list[dict[str, Any]]) -> list[str]:
    if not limits:
        return []
    with_kernels = statistics.median(one["time_ratio"] for one in limits)
    with_loops = statistics.median(one["loops_time_ratio"] for one in limits)
    return [
        f"kernels at {COMPARED}: in {len(limits)} programs; time median {with_kernels:.2f}, with"
        f" loops alone {with_loops:.2f}"
    ]


def _has_both(row: Row) -> bool:
    return "loops_time_ratio" in row.limits.get(COMPARED, {})


def _slower_kernels(row: Row) -> list[str]:
    """Where loops alone give a faster program than kernels."""
    return [
        f"{row.name}: time {one['time_ratio']:.2f} at {label} with kernels,"
        f" {one['loops_time_ratio']:.2f} with loops alone"
        for label, one in row.limits.items()
        if "loops_time_ratio" in one and one["time_ratio"] > SLOWER * one["loops_time_ratio"]
    ]


def _slower(row: Row) -> list[str]:
    """Where a larger limit gives a slower program.

    Limits under which XLA needs the same to the byte got the same program, whose times differ by
    chance.
    """
    held = sorted(
        ((label, one) for label, one in row.limits.items() if one["is_held"]),
        key=lambda pair: pair[1]["limit"],
    )
    ratio = "time_ratio"
    return [
        f"{row.name}: time {one[ratio]:.2f} at {label}, {less[ratio]:.2f} at {smaller}"
        for i, (label, one) in enumerate(held)
        for smaller, less in held[:i]
        if one[ratio] > SLOWER * less[ratio] and one["need"] != less["need"]
    ]


def labels(rows: list[Row]) -> list[str]:
    """The kinds of limits, the largest first."""
    found = {label for row in rows for label in row.limits}
    fractions = sorted((one for one in found if "/" in one), key=lambda one: int(one[2:]))
    return fractions + [one for one in ("smallest", "paper") if one in found]


def page(rows: list[Row]) -> str:
    """All of it, for people."""
    where = machine()
    fractions = [label for label in labels(rows) if "/" in label]
    titles = ["program", "package", "XLA's temporaries", "arguments, results", "smallest limit"]
    titles += ["of temporaries", *fractions, f"{COMPARED}, loops alone"]
    titles += ["peak less limit", "compile", "error"]
    lines = [
        "# Squeeze: how small a limit is held",
        "",
        f"{where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, JAX {where['jax']};"
        " written by `make squeeze`.",
        "",
        "A limit is arguments, results, constants and code, and a fraction of what XLA takes"
        " besides: temporaries, and the scratch of its libraries. Sizes are MB. Under a fraction"
        " is the time relative to plain XLA where the limit is held; where there are kernels, also"
        " that with loops alone, measured in turns in the same process. *Peak less limit* is the"
        " largest excess of the measured memory of a fresh process over any limit; up to 32 MB"
        " are the process's own. *Compile* is seconds of plain XLA, and under the smallest"
        " fraction that is held. *Error* is the largest against float64 at any limit, and XLA's"
        " own.",
        "",
        "```text",
        summary(rows),
        "```",
        "",
        "![smallest limits and times](squeeze.svg)",
        "",
        "| " + " | ".join(titles) + " |",
        "|---|---|" + "--:|" * (len(titles) - 2),
        *(_table_row(row, fractions) for row in rows),
    ]
    reasons = [
        f"- `{row.name}` at {label}: {one.get('reason') or one['failure']}"
        for row in rows
        for label, one in row.limits.items()
        if not one["is_held"]
    ]
    if reasons:
        lines += ["", "## Not held", "", *reasons]
    return "\n".join(lines) + "\n"


def _table_row(row: Row, fractions: list[str]) -> str:
    if not row.plain:
        return f"| {row.title} | {row.package} | XLA failed |"
    need = row.plain["need"]
    held = [one for one in row.limits.values() if one["is_held"]]
    overs = [one["over"] for one in held]
    cells = [
        row.title,
        row.package,
        _mb(row.temporaries),
        _mb(need["arguments"] + need["results"] - need["aliased"]),
        _mb(row.smallest) if row.smallest is not None else "none",
        f"{_share(row):.2%}" if row.smallest is not None else "",
        *(_cell(row.limits[label]) if label in row.limits else "" for label in fractions),
        f"{row.limits[COMPARED]['loops_time_ratio']:.2f}" if _has_both(row) else "",
        f"{max(overs) / 1e6:+.0f}" if overs else "",
        _compile_cell(row, held),
        _error_cell(row, held),
    ]
    return "| " + " | ".join(cells) + " |"


def _compile_cell(row: Row, held: list[dict[str, Any]]) -> str:
    text = f"{row.plain['compile_seconds']:.1f}"
    if held:
        text += f", {min(held, key=lambda one: one['limit'])['compile_seconds']:.1f}"
    return text


def _error_cell(row: Row, held: list[dict[str, Any]]) -> str:
    if not held:
        return ""
    text = f"{max(one['error'] for one in held):.0e}"
    return f"{text}, {row.plain['error']:.0e}" if "error" in row.plain else f"{text} to XLA's"


def _cell(one: dict[str, Any]) -> str:
    if one["is_held"]:
        return f"{one['time_ratio']:.2f}"
    return "failed" if "failure" in one else "refused"


def _loops(one: dict[str, Any]) -> str:
    return f" (loops {one['loops_time_ratio']:.2f})" if "loops_time_ratio" in one else ""


def _share(row: Row) -> float:
    """The smallest limit held, as a share of XLA's temporaries."""
    return max(0, row.smallest - row.base) / max(1, row.temporaries)


def _mb(size: float) -> str:
    return f"{size / 1e6:.0f}" if size >= 1e7 else f"{size / 1e6:.1f}"
