"""The results as a picture: a line for each program, the smallest limit and the time."""

import math
from html import escape

from benchmarks import svg
from benchmarks.squeeze.measure import Row

LEFT, PANEL, GAP, RIGHT = 170, 330, 40, 20
TOP, STEP, BOTTOM = 60, 14, 20
LEAST_SHARE, MOST_SHARE = 1e-3, 1.0
LEAST_RATIO, MOST_RATIO = 0.125, 8.0
TIMED = "1/10"


def picture(rows: list[Row]) -> str:
    width = LEFT + PANEL + GAP + PANEL + RIGHT
    height = TOP + STEP * len(rows) + BOTTOM
    style = ".held{stroke:#0969da;stroke-opacity:.35;stroke-width:3}.late{fill:#cf222e}"
    parts = svg.head(width, height, "Smallest limit held, and time, of each program", style)
    middle = LEFT + PANEL + GAP
    parts += [
        _text(LEFT + PANEL / 2, 20, "smallest limit held, of XLA's temporaries", "middle"),
        _text(middle + PANEL / 2, 20, f"time at {TIMED} of them, of plain XLA's", "middle"),
    ]
    bottom = height - BOTTOM
    for share, label in ((1, "1"), (0.5, "1/2"), (0.25, "1/4"), (0.1, "1/10"), (0.01, "1/100")):
        parts += _grid(_at_share(share), label, bottom)
    for ratio, label in ((0.125, "1/8"), (0.25, "1/4"), (0.5, "1/2"), (1, "1"), (2, "2"), (4, "4")):
        parts += _grid(_at_ratio(ratio), label, bottom)
    parts.append(f'<path class="line" d="M{_at_ratio(1):.1f} {TOP - 10}V{bottom}"/>')
    for index, row in enumerate(rows):
        parts += _row(row, TOP + STEP * index + STEP / 2)
    return "\n".join([*parts, "</svg>", ""])


def _row(row: Row, y: float) -> list[str]:
    parts = [_text(LEFT - 8, y + 4, row.name, "end")]
    if row.plain and row.smallest is not None:
        share = max(0, row.smallest - row.base) / max(1, row.temporaries)
        x = _at_share(share)
        parts += [
            f'<path class="held" d="M{x:.1f} {y}H{_at_share(1):.1f}"/>',
            _dot(x, y, f"{row.title}: {share:.2%}", "dot"),
        ]
    timed = row.limits.get(TIMED, {})
    if "time_ratio" in timed:
        ratio = timed["time_ratio"]
        kind = "dot" if ratio <= 1.25 else "late"
        parts.append(_dot(_at_ratio(ratio), y, f"{row.title}: {ratio:.2f}", kind))
    return parts


def _along(value: float, least: float, most: float) -> float:
    share = math.log(max(value, least) / least) / math.log(most / least)
    return min(share, 1.0) * PANEL


def _at_share(share: float) -> float:
    return LEFT + _along(share, LEAST_SHARE, MOST_SHARE)


def _at_ratio(ratio: float) -> float:
    return LEFT + PANEL + GAP + _along(ratio, LEAST_RATIO, MOST_RATIO)


def _grid(x: float, label: str, bottom: float) -> list[str]:
    line = f'<path class="grid" d="M{x:.1f} {TOP - 10}V{bottom}"/>'
    return [line, _text(x, TOP - 18, label, "middle")]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _dot(x: float, y: float, title: str, kind: str) -> str:
    circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
    return f"{circle}<title>{escape(title)}</title></circle>"
