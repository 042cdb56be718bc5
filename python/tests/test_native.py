"""The native library: what it shows and needs, and that it lives beside jaxlib."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from plimsoll import _native, engine

LIBRARY = Path(_native.__file__).with_name("libplimsoll.so")


def lines(*command: str | Path) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def declared(header: str) -> dict[str, int]:
    """The functions of a header of the C interface, with the number of their arguments."""
    text = (ROOT / header).read_text()
    found = re.findall(r"^PLIMSOLL_API [\w\s*]*?(plimsoll_\w+)\(([^)]*)\);", text, re.MULTILINE)
    return {
        name: 0 if arguments == "void" else arguments.count(",") + 1 for name, arguments in found
    }


HEADERS = [("compile/c_api.h", _native._FUNCTIONS), ("pjrt/c_api.h", engine._FUNCTIONS)]


def test_only_our_functions_are_visible():
    visible = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", LIBRARY)}
    assert visible == {name for header, _ in HEADERS for name in declared(header)}


def test_needs_nothing_but_the_c_library():
    needed = re.findall(r"NEEDED.*\[(.*)\]", "\n".join(lines("readelf", "-d", LIBRARY)))
    assert set(needed) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


@pytest.mark.parametrize(("header", "functions"), HEADERS, ids=[header for header, _ in HEADERS])
def test_python_declares_each_function_as_the_header_does(header, functions):
    assert {name: len(types) - 1 for name, types in functions.items()} == declared(header)


def test_errors_know_whose_they_are():
    """The library and Python agree on whose mistake an error is."""
    import ctypes

    module = ctypes.c_void_p()
    error = _native.lib.plimsoll_module_parse(None, 0, b"nothing", ctypes.byref(module))
    assert _native.lib.plimsoll_error_is_user_mistake(error) == 1
    with pytest.raises(_native.PlimsollError) as raised:
        _native.check(error)
    assert raised.value.is_user_mistake


USE_JAX = """
import jax, jax.numpy as jnp
assert float(jax.jit(lambda x: jnp.sum(x * x))(jnp.arange(4.0))) == 14.0
text = jax.jit(jnp.sin).lower(1.0).as_text()
"""
USE_PLIMSOLL = """
import plimsoll
assert plimsoll.ir.parse('"builtin.module"() ({^bb0:}) : () -> ()').text()
try:
    plimsoll.ir.parse(b"ML\\xefR")
except plimsoll.PlimsollError as error:
    assert error.code == "PL101"
"""


@pytest.mark.parametrize(
    "program",
    [USE_JAX + USE_PLIMSOLL + USE_JAX, USE_PLIMSOLL + USE_JAX + USE_PLIMSOLL],
    ids=["jaxlib first", "plimsoll first"],
)
def test_lives_beside_jaxlib(program):
    subprocess.run([sys.executable, "-c", program], check=True)
