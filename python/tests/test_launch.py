"""`plimsoll exec` and `plimsoll doctor`, as a user runs them."""

import json
import sys

import pytest

PROGRAM = "import jax.numpy as jnp; print(jnp.ones((1000, 1000)).shape)"


def test_exec_runs_a_command_under_a_limit(command, tmp_path):
    arguments = ("--explain", "--report", "out.json", sys.executable, "-c", PROGRAM)
    result = command("exec", "--memory-limit", "1GiB", *arguments, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "(1000, 1000)\n"
    assert "compilations" in result.stderr and "jit_" in result.stderr
    (process,) = json.loads((tmp_path / "out.json").read_text())["processes"]
    assert {one["allowed"] for one in process["compilations"]} == {2**30}
    assert {one["limit"] for one in process["compilations"]} == {"PLIMSOLL_MEMORY_LIMIT=1GiB"}


def test_exec_gives_the_commands_own_exit_status(command):
    assert command("exec", "--memory-limit=50%", "sh", "-c", "exit 7").returncode == 7
    assert command("exec", "--", "sh", "-c", "exit 8").returncode == 8
    result = command("exec", "--memory-limit", "1MB", sys.executable, "-c", PROGRAM, text=True)
    assert result.returncode == 1
    assert "PL401" in result.stderr


def test_the_option_wins_over_the_environment(command):
    show = ("sh", "-c", "echo $PLIMSOLL_MEMORY_LIMIT")
    other = {"PLIMSOLL_MEMORY_LIMIT": "2GiB"}
    result = command("exec", "--memory-limit", "1GiB", *show, environment=other, text=True)
    assert result.stdout == "1GiB\n"
    line = "plimsoll: --memory-limit=1GiB takes the place of PLIMSOLL_MEMORY_LIMIT=2GiB\n"
    assert result.stderr == line
    same = command("exec", "--memory-limit", "2048MiB", *show, environment=other, text=True)
    assert (same.stdout, same.stderr) == ("2048MiB\n", "")
    assert command("exec", *show, environment=other, text=True).stdout == "2GiB\n"


def test_exec_takes_exlas_flags(command):
    flags = {"XLA_FLAGS": "--xla_tensor_split_size=500MB --xla_dump_to=here"}
    show = ("sh", "-c", "echo $XLA_FLAGS, $PLIMSOLL_TENSOR_SPLIT_SIZE")
    assert command("exec", *show, environment=flags, text=True).stdout == (
        "--xla_dump_to=here, 500MB\n"
    )


def test_several_processes_share_a_report(command, tmp_path):
    script = f"{sys.executable} -c '{PROGRAM}' & {sys.executable} -c '{PROGRAM}'; wait"
    result = command("exec", "--report", "out.json", "sh", "-c", script, text=True)
    assert result.returncode == 0, result.stderr
    processes = json.loads((tmp_path / "out.json").read_text())["processes"]
    assert len({process["process"] for process in processes}) == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "PL204: expected a command to run"),
        (("--memory-limit", "much", "true"), "PL204: --memory-limit: expected a size"),
        (("--memory-limit", "-1GiB", "true"), "PL204: "),
        (("--no-such-option", "true"), "PL204: "),
        (("no-such-command",), "PL201: no-such-command: expected a command, found no such file"),
        (("--report", "no/such/folder/out.json", "true"), "PL201: no/such/folder/out.json"),
    ],
)
def test_what_exec_refuses(command, arguments, code):
    result = command("exec", *arguments, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith(f"plimsoll: {code}")


def test_doctor(command):
    result = command("doctor", environment={"PLIMSOLL_MEMORY_LIMIT": "1GiB"}, text=True)
    assert result.returncode == 0, result.stdout
    for line in ("jaxlib ", "hook         installed", "cpu:0 ", "1.0 GiB (PLIMSOLL_MEMORY_LIMIT=1"):
        assert line in result.stdout
    assert result.stdout.endswith("nothing is wrong\n")
    assert "what the host has left" in command("doctor", text=True).stdout


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"PLIMSOLL_MEMORY_LIMIT": "much"}, "PL204: PLIMSOLL_MEMORY_LIMIT: expected a size"),
        ({"JAX_PLATFORMS": "abacus"}, "JAX does not start: RuntimeError"),
    ],
)
def test_doctor_says_what_is_wrong(command, environment, complaint):
    result = command("doctor", environment=environment, text=True)
    assert result.returncode == 1
    assert complaint in result.stdout.partition("what is wrong")[2]


def test_doctor_when_it_is_turned_off(command):
    result = command("doctor", environment={"PLIMSOLL": "off"}, text=True)
    assert result.returncode == 0
    assert "off (PLIMSOLL=off)" in result.stdout
