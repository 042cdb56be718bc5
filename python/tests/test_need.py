"""What a compiled program needs: known programs, hidden scratch, devices, odd executables."""

import os
import subprocess
import sys
import time
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plimsoll.need import Need, need_of


def need(function, *shapes, **options):
    arguments = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    compiled = jax.jit(function, **options).lower(*arguments).compile()
    return need_of(compiled.runtime_executable())


def test_elementwise():
    found = need(lambda x: jnp.exp(x) + 1, (1000, 1000))
    assert (found.arguments, found.results) == (4_000_000, 4_000_000)
    assert (found.aliased, found.temporaries, found.scratch) == (0, 0, 0)
    assert 8_000_000 <= found.total < 8_200_000


def test_a_donated_argument_counts_once():
    found = need(lambda x: x * 2, (1000, 1000), donate_argnums=0)
    assert found.aliased == 4_000_000
    assert 4_000_000 <= found.total < 4_200_000


def test_constants_count():
    table = np.random.default_rng(0).standard_normal((500, 500), dtype=np.float32)
    assert need(lambda x: x * table, (500, 500)).constants >= 1_000_000


def test_scratch_of_a_fusion():
    """The matrix product is summed inside of a YNNPACK fusion, so XLA knows nothing of it."""
    found = need(lambda x, y: (jnp.exp(x) @ y).sum(), (2000, 2000), (2000, 2000))
    assert found.temporaries < 1_000_000
    assert found.scratch >= 16_000_000
    assert "fusion" in found.scratch_instruction


def test_scratch_of_a_sort():
    assert need(jnp.sort, (100_000,)).scratch >= 1_600_000


def test_scratch_inside_a_loop():
    def loop(x, y):
        return jax.lax.fori_loop(0, 3, lambda i, s: s + (jnp.exp(x + i) @ y).sum(), 0.0)

    assert need(loop, (2000, 2000), (2000, 2000)).scratch >= 16_000_000


def test_is_quick():
    executable = jax.jit(lambda x: x + 1).lower(jnp.ones(3)).compile().runtime_executable()
    need_of(executable)
    start = time.perf_counter()
    for _ in range(100):
        need_of(executable)
    # It has to take less than 0.3 ms; a busy machine gets some more.
    assert (time.perf_counter() - start) / 100 < 1e-3


SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from plimsoll.need import need_of
mesh = Mesh(np.array(jax.devices()), "d")
x = jax.device_put(jnp.ones((4000, 100)), NamedSharding(mesh, PartitionSpec("d")))
need = need_of(jax.jit(lambda x: x * 2).lower(x).compile().runtime_executable())
print(need.arguments, need.results)
"""


def test_a_sharded_program_is_counted_by_device():
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    environment |= {"JAX_PLATFORMS": "cpu"}
    child = subprocess.run(
        [sys.executable, "-c", SHARDED], env=environment, capture_output=True, text=True
    )
    assert child.stdout.split() == ["400000", "400000"], child.stderr


def executable(platform="gpu", statistics=None, text=None):
    def modules():
        return [] if text is None else [types.SimpleNamespace(to_string=lambda *_: text)]

    return types.SimpleNamespace(
        get_compiled_memory_stats=lambda: statistics,
        local_devices=lambda: [types.SimpleNamespace(platform=platform)],
        hlo_modules=modules,
    )


STATISTICS = types.SimpleNamespace(
    argument_size_in_bytes=1,
    output_size_in_bytes=2,
    alias_size_in_bytes=1,
    temp_size_in_bytes=4,
    generated_code_size_in_bytes=8,
)


def test_other_backends_are_believed():
    assert need_of(executable("gpu", STATISTICS)) == Need(1, 2, 1, 4, 0, 8, 0)
    assert need_of(executable("gpu", STATISTICS)).total == 14


def test_without_statistics_there_is_no_need():
    def refuse():
        raise RuntimeError("UNIMPLEMENTED")

    assert need_of(executable("gpu", None)) is None
    odd = executable("gpu", STATISTICS)
    odd.get_compiled_memory_stats = refuse
    assert need_of(odd) is None


@pytest.mark.parametrize("text", [None, "", "ENTRY %main {", "\0\n%f (){\n} ROOT = (((", "é" * 99])
def test_odd_modules(text):
    assert need_of(executable("cpu", STATISTICS, text)).total == 14
