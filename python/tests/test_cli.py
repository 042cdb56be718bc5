"""The command line as a user meets it: what it prints, and its exit status."""

import subprocess
import sys

import pytest

import plimsoll
from conftest import product
from corpus import forms
from plimsoll import cli


@pytest.fixture
def program(tmp_path, artifact):
    path = tmp_path / "program.mlirbc"
    path.write_bytes(artifact)
    return path


def assert_mistake(result, code: str, *parts: str):
    """One line on standard error with the code, nothing else, and exit status 2."""
    assert result.returncode == 2
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith(f"plimsoll: {code}: ")
    for part in parts:
        assert part in line


def test_version(command):
    assert command("--version").stdout.decode() == f"plimsoll {plimsoll.__version__}\n"


def test_help_lists_the_steps_of_the_pipeline(command):
    assert "show" in command("--help").stdout.decode()
    text = command("opt", "--help").stdout.decode()
    for step in plimsoll.ir.pipeline_steps():
        assert step["name"] in text


def test_opt_writes_to_standard_output(command, program):
    result = command("opt", program)
    assert result.returncode == 0
    assert result.stderr == b""
    assert forms.canonical(result.stdout.decode()) == forms.canonical(program.read_bytes())


def test_opt_writes_a_file(command, program, tmp_path):
    assert command("opt", program, "-o", "out.mlir").returncode == 0
    assert (tmp_path / "out.mlir").read_bytes() == command("opt", program).stdout


def test_opt_overwrites_its_input(command, program):
    expected = command("opt", program).stdout
    assert command("opt", program, "-o", program).returncode == 0
    assert program.read_bytes() == expected


@pytest.mark.parametrize("form", ["artifact", "native bytecode", "generic text", "pretty text"])
def test_opt_reads_standard_input(command, program_forms, form):
    content = program_forms[form]
    result = command("opt", "-", input=content.encode() if isinstance(content, str) else content)
    assert result.returncode == 0, result.stderr
    assert b'"stablehlo.exponential"' in result.stdout


def test_opt_stops_and_dumps(command, program, tmp_path):
    first = plimsoll.ir.pipeline_steps()[0]["name"]
    assert command("opt", program, "--stop-after", first, "--dump-each", "a/b").returncode == 0
    (dump,) = (tmp_path / "a" / "b").iterdir()
    assert dump.name.endswith(f"-{first}.mlir")
    assert forms.canonical(dump.read_text()) == forms.canonical(program.read_bytes())


def test_opt_refuses_an_unknown_step(command, program):
    assert_mistake(command("opt", program, "--stop-after", "nonsense"), "PL204", "nonsense")


@pytest.mark.parametrize("output", ["missing/out.mlir", "."])
def test_opt_cannot_write(command, program, output):
    assert_mistake(command("opt", program, "-o", output), "PL201", output)


def test_opt_cannot_dump(command, program):
    assert_mistake(command("opt", program, "--dump-each", program), "PL201", "program.mlirbc")


def test_show(command, program):
    result = command("show", program)
    assert result.returncode == 0
    text = result.stdout.decode()
    assert "tensor<8x8x3xf32>" in text
    assert "768 B" in text
    assert "stablehlo.broadcast_in_dim" in text
    assert f"conftest.py:{product.__code__.co_firstlineno + 1}" in text


def test_show_limits_the_list_of_values(command, program):
    def count(*options):
        text = command("show", program, *options).stdout.decode()
        return sum("conftest.py" in line for line in text.splitlines())

    assert count("--largest", "2") == 2
    assert count("--largest", "0") == 0
    assert count("--largest", "1000") > 5


def test_show_refuses_a_strange_count(command, program):
    assert_mistake(command("show", program, "--largest", "-3"), "PL204", "-3")
    assert_mistake(command("show", program, "--largest", "many"), "PL204", "many")


@pytest.mark.parametrize("name", ["opt", "show", "run"])
class TestBadInput:
    def test_missing_file(self, command, name):
        assert_mistake(command(name, "missing.mlir"), "PL201", "missing.mlir", "no such file")

    def test_directory(self, command, name):
        assert_mistake(command(name, "."), "PL201", "a directory")

    def test_empty_file(self, command, name, tmp_path):
        (tmp_path / "empty").touch()
        assert_mistake(command(name, "empty"), "PL201", "an empty file")

    def test_empty_standard_input(self, command, name):
        assert_mistake(command(name, "-", input=b""), "PL201", "<stdin>", "an empty file")

    def test_truncated_file(self, command, name, program, artifact):
        program.write_bytes(artifact[: len(artifact) // 2])
        assert_mistake(command(name, program), "PL101", "program.mlirbc", "byte")

    def test_what_is_no_program(self, command, name, tmp_path):
        (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        assert_mistake(command(name, "image.png"), "PL100", "image.png")

    def test_broken_text(self, command, name, tmp_path):
        (tmp_path / "broken.mlir").write_text('"builtin.module"() ({\n  nonsense\n')
        assert_mistake(command(name, "broken.mlir"), "PL102", "broken.mlir:2:3")

    def test_no_file_named(self, command, name):
        assert_mistake(command(name), "PL204", "FILE")

    def test_unknown_option(self, command, name, program):
        assert_mistake(command(name, program, "--nonsense"), "PL204", "--nonsense")


def test_no_command(command):
    assert_mistake(command(), "PL204", "COMMAND")


def test_unknown_command(command):
    assert_mistake(command("nonsense"), "PL204", "nonsense")


def test_a_file_name_with_a_line_break_stays_on_one_line(command):
    assert_mistake(command("show", "two\nlines"), "PL201", "two lines")


def test_traceback_only_if_asked_for(command):
    result = command("show", "missing.mlir", environment={"PLIMSOLL_LOG": "3"})
    assert result.returncode == 2
    assert b"Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith(b"plimsoll: PL201: ")


def test_a_bug_is_a_failure(monkeypatch, capsys):
    def broken(path):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(cli, "load_module", broken)
    assert cli.main(["show", "x"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("plimsoll: PL901: ZeroDivisionError: oops")


def test_a_closed_pipe_is_quiet(program):
    """As in `plimsoll opt program | head -0`."""
    with subprocess.Popen(
        [sys.executable, "-m", "plimsoll.cli", "opt", str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
