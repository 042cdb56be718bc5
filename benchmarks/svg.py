"""What the pictures of the benchmarks share."""

STYLE = (
    ".ink{fill:#1f2328}.line{stroke:#8b949e;fill:none}.grid{stroke:#8b949e;stroke-opacity:.25}"
    ".dot{fill:#0969da;fill-opacity:.75}"
)
DARK = ".ink{fill:#e6edf3}.dot{fill:#58a6ff}"


def head(width: int, height: int, title: str, style: str = "") -> list[str]:
    """The opening lines of a picture. What `style` adds is the same in the dark."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' font-family="sans-serif" font-size="11">',
        f"<title>{title}</title>",
        f"<style>{STYLE}{style}@media(prefers-color-scheme:dark){{{DARK}}}</style>",
    ]
