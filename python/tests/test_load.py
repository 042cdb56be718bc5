"""Programs from files, and what is said of files that hold none."""

import os
import sys
import threading

import pytest

from plimsoll import PlimsollError, convert, ir
from plimsoll.load import load_module


def refusal(path) -> PlimsollError:
    with pytest.raises(PlimsollError) as raised:
        load_module(path)
    return raised.value


def write(path, content: str | bytes):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_reads_every_form(program_forms, tmp_path):
    for content in program_forms.values():
        module = load_module(write(tmp_path / "program", content))
        assert module.text() == ir.parse(content).text()


def test_reads_a_pipe(artifact, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[artifact])
    writer.start()
    assert load_module(pipe).functions
    writer.join()


def test_a_file_may_be_overwritten_once_it_is_loaded(artifact, tmp_path):
    path = write(tmp_path / "program", artifact)
    module = load_module(path)
    text = module.text()
    path.unlink()
    assert module.text() == text


def test_missing_file(tmp_path):
    error = refusal(tmp_path / "missing.mlir")
    assert error.code == "PL201"
    assert "missing.mlir: expected a StableHLO program" in error.message
    assert error.message.endswith("found no such file")


def test_directory(tmp_path):
    error = refusal(tmp_path)
    assert error.code == "PL201"
    assert error.message.endswith("found a directory")


def test_empty_file(tmp_path):
    error = refusal(write(tmp_path / "empty.mlir", b""))
    assert error.code == "PL201"
    assert error.message.endswith("found an empty file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path):
    path = write(tmp_path / "secret.mlir", b"module {}")
    path.chmod(0)
    error = refusal(path)
    assert error.code == "PL201"
    assert "permission denied" in error.message


def test_file_that_cannot_be_read():
    # Reading the start of a process's memory is an input/output error.
    error = refusal("/proc/self/mem")
    assert error.code == "PL201"
    assert "cannot be read" in error.message


@pytest.mark.parametrize("content", [b"hello\n", b"\x7fELF\0\0\0\0", b"\0" * 100, b"\xff" * 100])
def test_what_is_no_program(content, tmp_path):
    error = refusal(write(tmp_path / "other", content))
    assert error.code in ("PL100", "PL102")
    assert "other" in error.message


def test_truncated_artifact(artifact, tmp_path):
    for size in range(4, len(artifact), max(1, len(artifact) // 50)):
        error = refusal(write(tmp_path / "short", artifact[:size]))
        assert error.code in ("PL101", "PL103")
        assert error.code == "PL103" or "byte" in error.message


def test_flipped_bits(artifact, tmp_path):
    """A changed bit gives another program or an error with a code, never a crash."""
    for bit in range(0, len(artifact) * 8, 97):
        changed = bytearray(artifact)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            load_module(write(tmp_path / "flipped", changed)).text()
        except PlimsollError as error:
            assert error.is_user_mistake


def test_truncated_generic_text(program_forms, tmp_path):
    text = program_forms["generic text"]
    end = text.rindex("}) ")
    for size in range(text.index("{"), end, max(1, end // 30)):
        error = refusal(write(tmp_path / "short.mlir", text[:size]))
        assert error.code == "PL102"
        assert "short.mlir:" in error.message


def test_broken_pretty_text_gives_the_line_and_column(program_forms, tmp_path):
    text = program_forms["pretty text"].replace("stablehlo.exponential", "stablehlo.exponentiate")
    error = refusal(write(tmp_path / "typo.mlir", text))
    assert error.code == "PL102"
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "exponentiate" in line)
    assert f"typo.mlir:{line}:" in error.message
    assert "exponentiate" in error.message


def test_hostile_pretty_text_is_survived(tmp_path):
    """So many open braces crash MLIR's parser."""
    error = refusal(write(tmp_path / "deep.mlir", "module {" * 100_000))
    assert error.is_user_mistake


def test_deep_generic_text_is_refused(tmp_path):
    error = refusal(write(tmp_path / "deep.mlir", '"builtin.module"() ({' * 100_000))
    assert error.code == "PL104"


def test_pretty_text_without_jaxlib(program_forms, tmp_path, monkeypatch):
    write(tmp_path / "jaxlib.py", "raise ImportError('not here')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    error = refusal(write(tmp_path / "pretty.mlir", program_forms["pretty text"]))
    assert error.code in ("PL100", "PL102")
    assert "install jaxlib" in error.message


def test_an_artifact_with_an_op_from_the_future_is_not_understood(artifact, tmp_path):
    """It stays refused, even if jaxlib might read it: the caller hands it on unchanged."""
    future = artifact.replace(b"exponential_v2", b"exponential_v9")
    error = refusal(write(tmp_path / "future", future))
    assert error.code == "PL103"
    assert "not understood" in error.message
    assert "exponential_v9" in error.message


def test_only_what_is_not_generic_is_converted(program_forms):
    broken = PlimsollError("PL102", "broken")
    assert convert.can_help(program_forms["pretty text"].encode(), broken)
    assert not convert.can_help(program_forms["generic text"].encode(), broken)
    assert not convert.can_help(b"\0binary", broken)
    assert not convert.can_help(
        program_forms["pretty text"].encode(), PlimsollError("PL104", "too deep")
    )


def test_parse_takes_pretty_text(lowered):
    """What a user has at hand: `jax.jit(f).lower(x).as_text()`."""
    assert ir.parse(lowered.as_text()).functions[0].symbol == "main"
