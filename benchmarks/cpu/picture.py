"""The results as a picture: a line for each row, the times of all, and what was asked."""

import math
from html import escape

from benchmarks import svg
from benchmarks.cpu.measure import NAMES, Answers, ratios
from benchmarks.cpu.table import ROWS

LEFT, PANEL, GAP, RIGHT = 280, 380, 40, 20
TOP, STEP, BOTTOM = 76, 18, 20
LEAST_SECONDS, MOST_SECONDS = 1e-3, 100.0
LEAST_SHARE, MOST_SHARE = 0.05, 8.0
COLOURS = {
    "xla": "#8250df",
    "loop": "#1a7f37",
    "kernel": "#0969da",
    "keops": "#bf8700",
    "faiss": "#bc4c00",
    "torch": "#cf222e",
    "hand": "#57606a",
}
# Of what is asked besides times: memory, and other rows.
OTHER = "#8b949e"


def picture(rows: dict[str, Answers]) -> str:
    width = LEFT + PANEL + GAP + PANEL + RIGHT
    height = TOP + STEP * len(rows) + BOTTOM
    style = ".missed{fill:#cf222e;fill-opacity:.12}.asked{stroke-width:1.5}"
    parts = svg.head(width, height, "Times, and ratios reached, of each row", style)
    middle = LEFT + PANEL + GAP
    parts += [
        _text(LEFT + PANEL / 2, 42, "time", "middle"),
        _text(middle + PANEL / 2, 42, "times as fast, of what is asked", "middle"),
        *_legend(),
    ]
    bottom = height - BOTTOM
    for seconds, label in (
        (1e-3, "1 ms"),
        (0.01, "10 ms"),
        (0.1, "100 ms"),
        (1, "1 s"),
        (10, "10 s"),
    ):
        parts += _grid(_at_time(seconds), label, bottom)
    missed = f'x="{middle}" y="{TOP - 10}" width="{_at_share(1) - middle:.1f}"'
    parts.append(f'<rect class="missed" {missed} height="{bottom - TOP + 10}"/>')
    for share, label in (
        (0.1, "1/10"),
        (0.25, "1/4"),
        (0.5, "1/2"),
        (1, "asked"),
        (2, "2"),
        (4, "4"),
    ):
        parts += _grid(_at_share(share), label, bottom)
    parts.append(f'<path class="line asked" d="M{_at_share(1):.1f} {TOP - 10}V{bottom}"/>')
    for index, name in enumerate(rows):
        parts += _row(name, rows, TOP + STEP * index + STEP / 2)
    return "\n".join([*parts, "</svg>", ""])


def _row(name: str, rows: dict[str, Answers], y: float) -> list[str]:
    title = ROWS[name].title
    parts = [_text(LEFT - 8, y + 4, title, "end")]
    parts.append(
        f'<path class="grid" d="M{LEFT} {y}H{LEFT + PANEL}M{LEFT + PANEL + GAP} {y}h{PANEL}"/>'
    )
    for one, colour in COLOURS.items():
        seconds = rows[name].get(one, {}).get("seconds")
        if seconds:
            text = f"{title}, {NAMES[one]}: {1000 * seconds:.4g} ms"
            parts.append(_dot(_at_time(seconds), y, text, colour, 5 if one == "kernel" else 3.5))
    colours = {NAMES[one]: colour for one, colour in COLOURS.items()}
    for one in ratios(ROWS[name], rows):
        if one.found is not None:
            text = f"{title}, than {one.than}: {one.found:.3g}, asked {one.asked:.3g}"
            colour = colours.get(one.than, OTHER)
            parts.append(_dot(_at_share(one.found / one.asked), y, text, colour, 3.5))
    return parts


def _legend() -> list[str]:
    parts, x = [], LEFT
    for name, colour in [
        *((NAMES[one], colour) for one, colour in COLOURS.items()),
        ("other", OTHER),
    ]:
        parts += [_dot(x, 16, name, colour, 4), _text(x + 8, 20, name, "start")]
        x += 26 + 7 * len(name)
    return parts


def _along(value: float, least: float, most: float) -> float:
    share = math.log(min(max(value, least), most) / least) / math.log(most / least)
    return share * PANEL


def _at_time(seconds: float) -> float:
    return LEFT + _along(seconds, LEAST_SECONDS, MOST_SECONDS)


def _at_share(share: float) -> float:
    return LEFT + PANEL + GAP + _along(share, LEAST_SHARE, MOST_SHARE)


def _grid(x: float, label: str, bottom: float) -> list[str]:
    line = f'<path class="grid" d="M{x:.1f} {TOP - 10}V{bottom}"/>'
    return [line, _text(x, TOP - 16, label, "middle")]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _dot(x: float, y: float, title: str, colour: str, radius: float) -> str:
    circle = f'<circle fill="{colour}" fill-opacity=".8" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
    return f"{circle}<title>{escape(title)}</title></circle>"
