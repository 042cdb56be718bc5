"""The command line: `plimsoll opt`, `show`, `explain`, `check`, `run`, `exec` and `doctor`.

Exit status: 0 for success, 2 for the user's mistake, 1 for a failure. An error is one line on
standard error.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import plimsoll
from plimsoll import doctor, ir, launch, show
from plimsoll.errors import PlimsollError
from plimsoll.explanation import explain_module
from plimsoll.limits import parse_limit
from plimsoll.load import load_module
from plimsoll.units import whole_number

_FORMS = (
    "a StableHLO portable artifact, MLIR bytecode, or MLIR text (generic or pretty);"
    " - is standard input"
)
# What a shell reports for a program that was ended by SIGPIPE, or by SIGINT.
_PIPE_CLOSED = 141
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    if arguments is None:
        arguments = sys.argv[1:]
    try:
        options = _parser(arguments).parse_args(arguments)
        options.command(options)
        sys.stdout.flush()
        return 0
    except PlimsollError as error:
        return _report(error)
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes standard
        # output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return _report(
            PlimsollError("PL901", f"{what}; this is a bug, PLIMSOLL_LOG=3 shows where it is")
        )


def _report(error: PlimsollError) -> int:
    if os.environ.get("PLIMSOLL_LOG") == "3":
        traceback.print_exc()
    # One line, whatever a file's name or a library's message holds.
    line = " ".join(str(error).split())
    print(f"plimsoll: {line}", file=sys.stderr)
    return 2 if error.is_user_mistake else 1


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints have the form of all others."""

    def error(self, message: str) -> NoReturn:
        raise PlimsollError("PL204", f"{message}; {self.prog} --help tells more")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="plimsoll", description="A compiler layer in front of XLA.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"plimsoll {plimsoll.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    steps = ir.pipeline_steps()
    width = max(len(step["name"]) for step in steps)
    opt = commands.add_parser(
        "opt",
        help="run the pipeline on a program and write it as generic text",
        description="Runs the pipeline on a program and writes it as generic text.",
        epilog="steps:\n"
        + "\n".join(f"  {step['name']:<{width}}  {step['why']}" for step in steps),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    opt.add_argument("file", metavar="FILE", help=_FORMS)
    opt.add_argument("-o", dest="output", metavar="OUT", default="-", help="the file to write")
    opt.add_argument("--stop-after", metavar="STEP", help="the last step to run")
    opt.add_argument("--dump-each", metavar="DIR", help="write the graph there after each step")
    opt.set_defaults(command=_opt)

    show_parser = commands.add_parser(
        "show",
        help="print what a program takes, holds and returns",
        description="Prints a program's arguments, results, ops by kind and largest values.",
    )
    show_parser.add_argument("file", metavar="FILE", help=_FORMS)
    show_parser.add_argument(
        "--largest", metavar="N", type=whole_number, default=20, help="how many values to list (20)"
    )
    show_parser.set_defaults(command=_show)

    run_parser = commands.add_parser(
        "run",
        help="run a program on the engine",
        description="Runs a program on the engine, with given or random inputs.",
    )
    explain_parser = commands.add_parser(
        "explain",
        help="tell what would be done with a program under a memory limit",
        description="Compiles a program under a memory limit, and tells what was done and why.",
    )
    explain_parser.add_argument("file", metavar="FILE", help=_FORMS)
    _add_limit(explain_parser)
    explain_parser.add_argument("--json", action="store_true", help="print it as JSON")
    explain_parser.set_defaults(command=_explain)

    check_parser = commands.add_parser(
        "check",
        help="run a program as it is and under a memory limit, and compare",
        description="Runs a program on random inputs as it is and under a memory limit, each in a"
        " process of its own, and compares results and measured memory.",
    )
    check_parser.add_argument("file", metavar="FILE", help=_FORMS)
    _add_limit(check_parser)
    check_parser.add_argument(
        "--seed", metavar="N", type=whole_number, default=0, help="for the random inputs (0)"
    )

    exec_parser = commands.add_parser(
        "exec",
        help="run a command under a memory limit",
        description="Runs a command whose JAX programs then stay inside a memory limit.",
    )
    launch.add_arguments(exec_parser)
    exec_parser.set_defaults(command=launch.launch)

    doctor_parser = commands.add_parser(
        "doctor",
        help="print what is found on this machine, and what is wrong",
        description="Prints versions, devices, the hook's state and the limit, and what is wrong.",
    )
    doctor_parser.set_defaults(command=_doctor)

    # Loading numpy takes longer than the other commands take to run.
    if arguments[:1] == ["run"]:
        from plimsoll import run

        run.add_arguments(run_parser)
        run_parser.set_defaults(command=run.run)
    if arguments[:1] == ["check"]:
        from plimsoll import compare

        check_parser.set_defaults(command=compare.check)
    return parser


def _opt(options: argparse.Namespace) -> None:
    module = load_module(options.file)
    if options.dump_each is not None:
        try:
            os.makedirs(options.dump_each, exist_ok=True)
        except OSError as error:
            raise _unwritable(options.dump_each, error) from None
    module.compile(options.stop_after, options.dump_each)
    text = module.text_bytes()
    if options.output == "-":
        sys.stdout.buffer.write(text)
        return
    try:
        with open(options.output, "wb") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(options.output, error) from None


def _unwritable(path: str, error: OSError) -> PlimsollError:
    return PlimsollError("PL201", f"{path}: cannot be written: {error.strerror}")


def _show(options: argparse.Namespace) -> None:
    print(show.describe(load_module(options.file), options.largest))


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory-limit",
        metavar="L",
        required=True,
        help="the limit, such as 2GiB, 500MB, 1.5e9 or 75%%",
    )


def _explain(options: argparse.Namespace) -> None:
    limit = parse_limit(options.memory_limit, "--memory-limit")
    explanation = explain_module(load_module(options.file), limit)
    print(json.dumps(explanation.as_json(), indent=1) if options.json else explanation)


def _doctor(_: argparse.Namespace) -> None:
    text, problems = doctor.diagnose()
    print(text)
    if problems:
        raise SystemExit(1)


if __name__ == "__main__":
    sys.exit(main())
