"""`plimsoll exec`: a command run under a limit."""

import argparse
import os
import shutil
from typing import NoReturn

from plimsoll import xla_flags
from plimsoll.errors import PlimsollError
from plimsoll.limits import ENVIRONMENT_VARIABLE, parse_limit
from plimsoll.log import logger


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory-limit", metavar="L", help="the limit, such as 2GiB, 500MB, 1.5e9 or 75%%"
    )
    parser.add_argument(
        "--explain", action="store_true", help="print at the end what was compiled, and its need"
    )
    parser.add_argument("--report", metavar="F", help="write the same to this file, as JSON")
    parser.add_argument("program", metavar="CMD", nargs=argparse.REMAINDER, help="what to run")


def launch(options: argparse.Namespace) -> NoReturn:
    """Becomes the command, in an environment that has the limit."""
    command = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        raise PlimsollError("PL204", "expected a command to run, such as python train.py")
    environment = dict(os.environ)
    xla_flags.take_own_flags(environment)
    if options.memory_limit is not None:
        limit = parse_limit(options.memory_limit, "--memory-limit")
        other = environment.get(ENVIRONMENT_VARIABLE, "").strip()
        if other and parse_limit(other, ENVIRONMENT_VARIABLE) != limit:
            logger.warning(f"{limit} takes the place of {ENVIRONMENT_VARIABLE}={other}")
        environment[ENVIRONMENT_VARIABLE] = limit.text
    if options.explain:
        environment["PLIMSOLL_EXPLAIN"] = "1"
    if options.report is not None:
        environment["PLIMSOLL_REPORT"] = _empty_file(options.report)
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise PlimsollError("PL201", f"{command[0]}: expected a command, found no such file")
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        raise PlimsollError("PL201", f"{command[0]}: cannot be run: {error.strerror}") from None


def _empty_file(path: str) -> str:
    """Makes the file empty, and returns its path as every process finds it."""
    try:
        with open(path, "w"):
            return os.path.abspath(path)
    except OSError as error:
        raise PlimsollError("PL201", f"{path}: cannot be written: {error.strerror}") from None
