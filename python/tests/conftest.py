"""What several tests use: one small program in every form, and the command as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from corpus import forms
from plimsoll import kernels

ROOT = Path(__file__).parents[2]


def product(points, vector):
    differences = points[:, None, :] - points[None, :, :]
    kernel = jnp.exp(-jnp.sum(differences**2, axis=-1))
    return kernel @ vector


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Tests, and the processes that they start, keep kernels in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def usual_machine():
    """What is chosen in tests does not depend on what else the machine does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_calibrate", lambda: None)
        yield


@pytest.fixture(scope="session")
def lowered():
    points = jax.ShapeDtypeStruct((8, 3), "float32")
    vector = jax.ShapeDtypeStruct((8,), "float32")
    return jax.jit(product).lower(points, vector)


@pytest.fixture(scope="session")
def program_forms(lowered) -> dict[str, str | bytes]:
    """The program `product` in each form that is read."""
    module = lowered.compiler_ir()
    return {
        "artifact": forms.artifact(module),
        "native bytecode": forms.native_bytecode(module),
        "generic text": forms.generic_text(module),
        "pretty text": lowered.as_text(),
        "pretty text with locations": forms.pretty_text(module),
    }


@pytest.fixture(scope="session")
def artifact(program_forms) -> bytes:
    return program_forms["artifact"]


@pytest.fixture
def command(tmp_path):
    """Runs `plimsoll ARGUMENTS...` in an empty folder and returns the finished process."""

    def run(*arguments, environment=None, **options) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "plimsoll.cli", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | (environment or {}),
            capture_output=True,
            timeout=120,
            **options,
        )

    return run


@pytest.fixture
def without_kernels(monkeypatch):
    """For tests of loops, which kernels would do without."""
    monkeypatch.setenv("PLIMSOLL_DISABLE", "kernels")
