"""What was measured."""

import subprocess
from pathlib import Path


def revision() -> str:
    """The commit; "+" if there are changes that are not committed."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return found.stdout.strip()
