"""The lines that Plimsoll writes while a program runs, through Python's `logging`.

PLIMSOLL_LOG says how many: 0 errors only, 1 warnings and changed programs (the default), 2 a line
for each compilation, 3 everything, with the traceback of a fault.
"""

import logging
import os
import sys

logger = logging.getLogger("plimsoll")

# Below DEBUG, for what only someone who mends Plimsoll wants to see.
TRACE = 5
_LEVELS = {"0": logging.ERROR, "1": logging.INFO, "2": logging.DEBUG, "3": TRACE}

_said: set[str] = set()


class _StandardError(logging.Handler):
    """Writes to standard error, unless the program has handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.getLogger().handlers or len(logger.handlers) > 1:
            return
        try:
            print(f"plimsoll: {self.format(record)}", file=sys.stderr)
        except (OSError, ValueError):
            # Standard error is closed: nobody is there to read this.
            pass


def _set_up() -> None:
    logging.addLevelName(TRACE, "TRACE")
    logger.addHandler(_StandardError())
    text = os.environ.get("PLIMSOLL_LOG", "1").strip()
    logger.setLevel(_LEVELS.get(text, logging.INFO))
    if text not in _LEVELS:
        warn_once(f"PLIMSOLL_LOG: expected 0, 1, 2 or 3, found {text!r}; it is taken for 1")


def warn_once(message: str, **options: object) -> None:
    """Writes a warning that is not repeated in this process."""
    if message not in _said:
        _said.add(message)
        logger.warning(message, **options)


_set_up()
