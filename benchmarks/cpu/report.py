"""The results as JSON and as a table; picture.py draws them."""

import json
from pathlib import Path

from benchmarks.cpu.measure import NAMES, Answers, Ratio, alarms, ratios
from benchmarks.cpu.picture import picture
from benchmarks.cpu.table import ROWS
from benchmarks.squeeze.report import machine

# Of the machine: more than the benchmark's own.
MOST_LOAD = 3.0

Rows = dict[str, Answers]

INTRODUCTION = (
    "Times are ms: the least of several runs, two threads each, in a process of its own for each"
    " contender and row. *XLA* is plain `jax.jit`; *our loop* the fastest that Plimsoll makes of"
    " the program without kernels, under several limits and for speed; *our kernel* the same with"
    " them (\\* where there was no kernel for it). Where a program can be"
    " written in two ways, each of these has the one that is faster for it. KeOps is compiled for"
    " this machine. *Times as fast* is the kernel against each, with what is asked in brackets, and"
    " bold where it is not reached; where a value must never be whole, also how many times smaller"
    " all temporaries are. *Error* is against float64, ours and XLA's, by the largest value."
    " *Temporaries* are MB of ours and XLA's. *First call* is seconds of ours and XLA's, with"
    " compilation."
)


def read(folder: Path) -> Rows:
    """The rows written before, if this machine wrote them."""
    path = folder / "cpu.json"
    if not path.exists():
        return {}
    results = json.loads(path.read_text())
    return results["rows"] if results["machine"] == machine() else {}


def write(folder: Path, rows: Rows) -> None:
    folder.mkdir(exist_ok=True)
    results = {"machine": machine(), "rows": rows}
    (folder / "cpu.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "cpu.md").write_text(page(rows))
    (folder / "cpu.svg").write_text(picture(rows))


def line(name: str, rows: Rows, is_quick: bool) -> str:
    """What is printed when a row is done."""
    answers = rows[name]
    times = [f"{NAMES[one]} {_time_cell(answers, one)}" for one in NAMES if one in answers]
    found = "; ".join(_ratio_text(one) for one in ratios(ROWS[name], rows, is_quick))
    return f"{name:18} {', '.join(times)}\n{'':18} {found}"


def summary(rows: Rows, is_quick: bool = False) -> str:
    every = [(name, one) for name in rows for one in ratios(ROWS[name], rows, is_quick)]
    measured = [(name, one) for name, one in every if one.found is not None]
    reached = [one for _, one in measured if one.is_reached]
    lines = [
        f"{len(rows)} rows; {len(reached)} of {len(every)} ratios are reached,"
        f" {len(every) - len(measured)} could not be measured"
    ]
    lines += [f"  {name}: {_ratio_text(one)}" for name, one in every if not one.is_reached]
    without = [name for name, answers in rows.items() if not answers["kernel"].get("kernels")]
    lines.append(f"without a kernel: {', '.join(without) or 'none'}")
    by_row = {name: answers["kernel"].get("made", {}) for name, answers in rows.items()}
    for place, what in (("generated", "code generation"), ("disk", "code from the disk")):
        if times := [(made[place], name) for name, made in by_row.items() if place in made]:
            seconds, name = max(times)
            lines.append(f"{what}: at most {1000 * seconds:.0f} ms a kernel ({name})")
    load = max(answers["load"] for answers in rows.values())
    if load > MOST_LOAD:
        lines.append(
            f"the machine had other work, with a load of up to {load:.0f}: times are rough"
        )
    for name, answers in rows.items():
        for one in NAMES:
            if failure := answers.get(one, {}).get("failure"):
                lines.append(f"{name}, {NAMES[one]}: {failure}")
    for name, answers in rows.items():
        lines += [f"  !!! {text}" for text in alarms(ROWS[name], answers)]
    return "\n".join(lines)


def page(rows: Rows) -> str:
    where = machine()
    contenders = list(NAMES.values())
    titles = ["work", *contenders, "times as fast or small", "error", "temporaries", "first call"]
    lines = [
        "# Kernels on the processor",
        "",
        f"{where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, JAX {where['jax']};"
        " written by `make bench-cpu`.",
        "",
        INTRODUCTION,
        "",
        "```text",
        summary(rows),
        "```",
        "",
        "![times and ratios](cpu.svg)",
        "",
        "| " + " | ".join(titles) + " |",
        "|---|" + "--:|" * len(contenders) + "---|" + "--:|" * 3,
    ]
    return "\n".join([*lines, *(_row(name, rows) for name in rows), ""])


def _row(name: str, rows: Rows) -> str:
    answers = rows[name]
    cells = [
        ROWS[name].title,
        *(_time_cell(answers, one) for one in NAMES),
        ", ".join(_ratio_text(one, bold=True) for one in ratios(ROWS[name], rows)),
        _both(answers, "error", "{:.0e}"),
        _both(answers, "temporaries", "{:.1f}", 1e6),
        _both(answers, "first_seconds", "{:.2f}"),
    ]
    return "| " + " | ".join(cells) + " |"


def _ratio_text(one: Ratio, bold: bool = False) -> str:
    if one.found is None:
        return f"{one.than} not measured ({one.asked:.3g})"
    text = f"{one.than} {one.found:.3g} ({one.asked:.3g})"
    return f"**{text}**" if bold and not one.is_reached else text


def _time_cell(answers: Answers, contender: str) -> str:
    answer = answers.get(contender, {})
    if "seconds" not in answer:
        return "failed" if "failure" in answer else ""
    mark = "*" if contender == "kernel" and not answer["kernels"] else ""
    return f"{1000 * answer['seconds']:,.4g}{mark}"


def _both(answers: Answers, what: str, form: str, unit: float = 1.0) -> str:
    """Of our kernel, and of XLA."""
    values = [answers[one].get(what) for one in ("kernel", "xla")]
    return ", ".join("–" if value is None else form.format(value / unit) for value in values)
