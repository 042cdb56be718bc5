"""Kernels on the disk: what one process compiles, the next one takes."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import jax, jax.numpy as jnp, numpy as np, plimsoll

def product(x, v):
    return jnp.exp(-jnp.sum((x[:, None] - x[None]) ** 2, -1)) @ v

x = jax.random.normal(jax.random.key(0), (900, 3))
result = plimsoll.jit(product, memory_limit="1200kB")(x, x[:, 0])
print(np.asarray(result).tobytes().hex())
"""


def start(cache: Path, script: str = SCRIPT, **others: str) -> subprocess.Popen:
    environment = {"JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | environment | others,
        stdout=subprocess.PIPE,
        text=True,
    )


def result_of(process: subprocess.Popen) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return output


def kept(cache: Path) -> dict[str, os.stat_result]:
    return {file.name: file.stat() for file in (cache / "plimsoll" / "kernels").iterdir()}


def test_the_next_process_takes_what_one_has_compiled(tmp_path):
    result = result_of(start(tmp_path))
    files = kept(tmp_path)
    assert files
    for name in files:
        os.utime(tmp_path / "plimsoll" / "kernels" / name, (1e9, 1e9))
    assert result_of(start(tmp_path)) == result
    # Read, which makes them new again, and not written, which would make new ones.
    assert {name: file.st_ino for name, file in kept(tmp_path).items()} == {
        name: file.st_ino for name, file in files.items()
    }
    # The two kernels that the machine's speed was measured with are not needed any more.
    assert sum(file.st_mtime > 1e9 for file in kept(tmp_path).values()) == len(files) - 2


def test_programs_with_kernels_in_the_persistent_cache(tmp_path):
    script = (
        """
import jax
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
"""
        + SCRIPT
        + """
one, = (one for one in plimsoll.report() if one.name == "jit_product")
print(one.from_cache)
"""
    )
    folder = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    first = result_of(start(tmp_path, script, **folder))
    second = result_of(start(tmp_path, script, **folder))
    assert first.split() == [second.split()[0], "False"]
    assert second.split()[1] == "True"
    without = result_of(start(tmp_path, script, PLIMSOLL_DISABLE="kernels", **folder))
    assert without.split()[1] == "False"


def test_processes_at_once(tmp_path):
    processes = [start(tmp_path) for _ in range(2)]
    first, second = map(result_of, processes)
    assert first == second
    assert all("." not in name for name in kept(tmp_path))


def test_a_truncated_file_is_compiled_again(tmp_path):
    result = result_of(start(tmp_path))
    sizes = {name: file.st_size for name, file in kept(tmp_path).items()}
    for name, size in sizes.items():
        os.truncate(tmp_path / "plimsoll" / "kernels" / name, size // 2)
    assert result_of(start(tmp_path)) == result
    assert {name: file.st_size for name, file in kept(tmp_path).items()} == sizes


def test_no_place_for_a_cache(tmp_path):
    (tmp_path / "file").touch()
    assert result_of(start(tmp_path / "file")) == result_of(start(tmp_path))
