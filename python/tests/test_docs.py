"""The documentation is true: its commands run, and every error code has its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from plimsoll import PlimsollError

ERROR_PAGES = ROOT / "docs" / "errors"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "docs" / "commands.md",
    ROOT / "docs" / "limits.md",
    ROOT / "docs" / "rules.md",
    ROOT / "docs" / "splitting.md",
    *sorted(ERROR_PAGES.glob("*.md")),
]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ERROR_ROW = re.compile(r'^PLIMSOLL_ERROR\(\w+, "(PL\d+)", (true|false), "(.*)"\)$', re.MULTILINE)

# On the command line, and as the last line of a Python traceback.
_SHOWN_ERROR = re.compile(r"^plimsoll(\.errors\.\w+)?: (PL\d+): ", re.MULTILINE)


def error_rows() -> list[tuple[str, str, str]]:
    return _ERROR_ROW.findall((ROOT / "ir" / "errors.def").read_text())


@pytest.mark.parametrize(("code", "is_user_mistake", "summary"), error_rows())
def test_every_error_code_has_its_page(code, is_user_mistake, summary):
    page = (ERROR_PAGES / f"{code}.md").read_text()
    assert page.startswith(f"# {code}: {summary}\n")
    for section in ("## Example", "## Cause", "## Remedies"):
        assert section in page
    # Python tells whose mistake it is from the code's number.
    assert PlimsollError(code, "").is_user_mistake == (is_user_mistake == "true")


def test_every_page_has_its_error_code():
    assert {page.stem for page in ERROR_PAGES.glob("*.md")} == {code for code, *_ in error_rows()}


def matches(output: str, expected: str) -> bool:
    """True if they are the same; "..." stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, output.strip(), re.DOTALL) is not None


def run_block(language: str, content: str, folder: Path) -> str:
    shell = sys.executable if language == "python" else "bash"
    # The user's shell after `. .venv/bin/activate`: `plimsoll` and `python` are those of this
    # environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        [shell, "-c", content],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    # A block that ends in an error shows it, and then its exit status is the one that
    # docs/commands.md promises.
    shown_error = _SHOWN_ERROR.findall(result.stdout)
    expected = 0
    if shown_error:
        is_exception, code = shown_error[-1]
        expected = 2 if PlimsollError(code, "").is_user_mistake and not is_exception else 1
    assert result.returncode == expected, f"{content}\n{result.stdout}"
    return result.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_commands_run_and_print_what_is_shown(document, tmp_path):
    """Runs the blocks of a document in order; a text block is what the block before it printed."""
    output = None
    errors = 0
    for language, content in _BLOCK.findall(document.read_text()):
        if content.startswith("make "):
            continue
        if language in ("sh", "python"):
            output = run_block(language, content, tmp_path)
            errors += _SHOWN_ERROR.search(output) is not None
        elif language == "text" and output is not None:
            assert matches(output, content), f"shown:\n{content}\nprinted:\n{output}"
    if document.parent == ERROR_PAGES:
        assert errors or document.stem == "PL901", "the page's example must give its error"
    else:
        assert not errors
