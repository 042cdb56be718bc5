"""The results as tables in docs/memory.md, between markers, and as a picture in docs/memory.svg."""

import math
import re
from pathlib import Path

import jaxlib.version
from benchmarks import svg


def write(folder: Path, outcomes, worst, median: float) -> None:
    page = folder / "memory.md"
    text = page.read_text()
    version = jaxlib.version.__version__
    rows = dict(re.findall(r"^\| (\d[\d.]*) (\|.*\|)$", _between(text, "versions"), re.MULTILINE))
    rows[version] = (
        f"| {len(outcomes)} | {max(0, -worst.difference) / 1e6:.1f} MB ({worst.name}) "
        f"| {100 * median:.1f} % |"
    )
    ordered = sorted(rows, key=_numbers, reverse=True)
    lines = ["| jaxlib | programs | worst under | median over |", "|---|---|---|---|"]
    lines += [f"| {one} {rows[one]}" for one in ordered]
    text = _replace(text, "versions", lines)
    # The table and the picture are those of the newest version.
    if version == ordered[0]:
        lines = [
            "| program | measured | need | of it scratch | difference |",
            "|---|--:|--:|--:|--:|",
        ]
        lines += [
            f"| {one.name} | {one.measured / 1e6:.0f} | {one.needed / 1e6:.0f} "
            f"| {one.scratch / 1e6:.0f} | {100 * one.over:+.1f} % |"
            for one in outcomes
        ]
        text = _replace(text, "programs", lines)
        (folder / "memory.svg").write_text(picture(outcomes))
    page.write_text(text)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _markers(name: str) -> tuple[str, str]:
    return f"<!-- {name}: written by make memory-truth -->", f"<!-- end of {name} -->"


def _between(text: str, name: str) -> str:
    start, end = _markers(name)
    return text[text.index(start) + len(start) : text.index(end)]


def _replace(text: str, name: str, lines: list[str]) -> str:
    start, end = _markers(name)
    before, after = text[: text.index(start)], text[text.index(end) :]
    return before + "\n".join([start, *lines, after])


# A picture of a square with equal logarithmic axes.
SIZE, MARGIN = 480, 60
LEAST, MOST = 2e7, 3e9


def _along(value: float) -> float:
    share = math.log(value / LEAST) / math.log(MOST / LEAST)
    return MARGIN + min(max(share, 0), 1) * (SIZE - 2 * MARGIN)


def _point(measured: float, needed: float) -> str:
    return f"{_along(measured):.1f},{SIZE - _along(needed):.1f}"


def picture(outcomes) -> str:
    ticks = {5e7: "50 MB", 1e8: "100 MB", 2e8: "200 MB", 5e8: "500 MB", 1e9: "1 GB", 2e9: "2 GB"}
    band = [_point(LEAST, 1.1 * LEAST), _point(MOST / 1.1, MOST), _point(MOST, MOST)]
    band += [_point(MOST, 0.9 * MOST), _point(LEAST / 0.9, LEAST), _point(LEAST, LEAST)]
    low, high = MARGIN, SIZE - MARGIN
    parts = [
        *svg.head(
            SIZE,
            SIZE,
            "Need against measured peak memory, one dot a program",
            ".band{fill:#8b949e;fill-opacity:.25}",
        ),
        f'<polygon class="band" points="{" ".join(band)}"/>',
    ]
    for value, label in ticks.items():
        x, y = _along(value), SIZE - _along(value)
        parts += [
            f'<path class="grid" d="M{x:.1f} {low}V{high}M{low} {y:.1f}H{high}"/>',
            f'<text class="ink" x="{x:.1f}" y="{high + 16}" text-anchor="middle">{label}</text>',
            f'<text class="ink" x="{low - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>',
        ]
    parts += [
        f'<path class="line" d="M{low} {high}L{high} {low}"/>',
        f'<path class="line" d="M{low} {low}V{high}H{high}"/>',
        f'<text class="ink" x="{SIZE / 2}" y="{SIZE - 14}" text-anchor="middle">'
        "measured peak of the process</text>",
        f'<text class="ink" x="{SIZE / 2}" y="{low - 30}" text-anchor="middle">'
        "need as plimsoll says it; the band is 10 % each way</text>",
    ]
    for one in outcomes:
        x, y = _point(one.measured, one.needed).split(",")
        parts.append(
            f'<circle class="dot" cx="{x}" cy="{y}" r="3"><title>{one.name}</title></circle>'
        )
    return "\n".join([*parts, "</svg>", ""])
