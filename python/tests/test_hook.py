"""The hook inside JAX: the limit, the check, the caches, and what it must leave alone."""

import gc
import logging
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plimsoll
from plimsoll import hook, limits, roundtrip

MB = 1_000_000
# Its temporary is a matrix of 4 MB, its argument a vector of 4 kB.
SIDE = 1000


def make_outer_sum():
    """A function that JAX has never seen: it keeps what it compiled of those it knows.

    A Cholesky factor needs its matrix as a whole: it cannot be cut.
    """

    def outer_sum(vector):
        matrix = vector[:, None] * vector[None, :] + SIDE**2 * jnp.eye(SIDE)
        return jnp.linalg.cholesky(matrix).sum(axis=0)

    return outer_sum


def make_scale(factor):
    def scale(x):
        return x * factor

    return scale


def vector(scale: float = 1.0) -> jax.Array:
    return scale * jnp.arange(SIDE, dtype=jnp.float32)


@pytest.fixture
def compiled_since():
    """A function that gives the compilations since the test began, by name of the program."""
    start = len(plimsoll.report())
    return lambda name: [one for one in plimsoll.report()[start:] if one.name == f"jit_{name}"]


def run_script(script: str, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs a user's script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *words],
        env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


PRODUCT = """
import jax, jax.numpy as jnp
@jax.jit
def product(x):
    kernel = jnp.exp(-jnp.sum((x[:, None] - x[None]) ** 2, -1))
    return jnp.linalg.cholesky(kernel) @ x
print(product(jnp.ones((2000, 3))).shape)
"""


def test_jax_finds_it_by_itself():
    assert jax.local_devices()
    assert hook.state() == "installed"


def test_a_program_over_the_limit_is_refused_before_it_runs(compiled_since):
    function = jax.jit(make_outer_sum())
    with plimsoll.memory_limit(3 * MB), pytest.raises(plimsoll.MemoryLimitError) as caught:
        function(vector())
    error = caught.value
    assert isinstance(error, MemoryError)
    assert error.code == "PL401"
    assert error.allowed == 3 * MB
    assert 4 * MB < error.needed < 40 * MB
    text = str(error)
    assert "jit_outer_sum needs" in text
    # JAX 0.10 makes a copy of the factor, which can be cut.
    assert re.search(r" on cpu:0( even if it is cut)?, the limit is 2\.9 MiB ", text)
    assert "(plimsoll.memory_limit=3000000)" in text
    assert "temporaries" in text
    assert "what helps" in text
    # The user's own lines: the one that called, and the one that makes the matrix.
    assert f"{__file__}:" in text
    held = text.split("what holds the memory")[1].split("what helps")[0].splitlines()
    assert re.search(r"^  3.8 MiB tensor<1000x1000xf32>, test_hook.py:\d+$", held[1])
    assert any("custom_call" in line for line in held[2:])
    (record,) = compiled_since("outer_sum")
    assert record.is_refused and record.allowed == 3 * MB
    assert pickle.loads(pickle.dumps(error)).needed == error.needed


def test_the_limit_that_is_named_is_enough():
    function = jax.jit(make_outer_sum())
    argument = vector()
    gc.collect()
    with plimsoll.memory_limit(MB), pytest.raises(plimsoll.MemoryLimitError) as caught:
        function(argument)
    with plimsoll.memory_limit(caught.value.needed - 1):
        with pytest.raises(plimsoll.MemoryLimitError):
            function(argument)
    with plimsoll.memory_limit(caught.value.needed):
        function(argument)


def test_a_program_that_fits_goes_to_xla_as_the_same_object(monkeypatch, compiled_since):
    seen = []
    client = type(jax.local_devices()[0].client)
    original = client.compile_and_load

    def compile_and_load(self, module, **rest):
        seen.append(module)
        return original(self, module, **rest)

    monkeypatch.setattr(client, "compile_and_load", compile_and_load)
    lowered = jax.jit(lambda x: x * 3 + 41).lower(vector())
    with plimsoll.memory_limit("1GiB"):
        lowered.compile()
    assert seen[-1] is lowered.compiler_ir()


def test_a_changed_limit_compiles_anew_and_a_returned_one_does_not(compiled_since):
    @jax.jit
    def changed_limit(x):
        return x * 5

    argument = vector()
    for limit in ("1GiB", "2GiB", "1024MiB", "2GiB", None, "1GiB", None):
        with plimsoll.memory_limit(limit):
            changed_limit(argument)
    assert [one.allowed for one in compiled_since("changed_limit")][:2] == [2**30, 2**31]
    assert len(compiled_since("changed_limit")) == 3


def test_calls_stay_on_jits_fast_path(monkeypatch):
    function = jax.jit(make_scale(7))
    argument = vector()
    function(argument)

    def fail(*_, **__):
        raise AssertionError("a call of a compiled function went through Plimsoll")

    monkeypatch.setattr(hook, "_judge", fail)
    monkeypatch.setattr(hook, "limit_in_force", fail)
    from jax._src import pjit

    monkeypatch.setattr(pjit, "_pjit_call_impl_python", fail)
    for _ in range(10):
        function(argument)
    with pytest.raises(AssertionError):
        jax.jit(make_scale(8))(argument)


def test_the_narrowest_scope_wins(compiled_since, monkeypatch):
    @plimsoll.jit(memory_limit="3GiB")
    def narrowest(x):
        return x * 11

    monkeypatch.setattr(hook, "_environment_limit", limits.parse_limit("9GiB", "here"))
    expected = []
    try:
        narrow = jax.jit(make_scale(12))
        narrow(vector())
        expected.append(min(9 * 2**30, plimsoll.device_memory.host_total()))
        plimsoll.set_memory_limit("8GiB")
        narrow(vector())
        expected.append(8 * 2**30)
        with plimsoll.memory_limit("4GiB"):
            narrow(vector())
            narrowest(vector())
        expected.append(4 * 2**30)
    finally:
        plimsoll.set_memory_limit(None)
    assert [one.allowed for one in compiled_since("scale")] == expected
    (one,) = compiled_since("narrowest")
    assert one.allowed == 3 * 2**30
    assert one.limit == "plimsoll.jit=3GiB"


def test_the_environment_is_read_once(monkeypatch):
    jax.local_devices()
    monkeypatch.setenv("PLIMSOLL_MEMORY_LIMIT", "1MB")
    jax.jit(make_outer_sum())(vector())


def test_a_wider_limit_inside_is_told(caplog):
    with caplog.at_level(logging.WARNING, "plimsoll"), plimsoll.memory_limit("11MiB"):
        with plimsoll.memory_limit("12MiB"):
            pass
    assert any(
        "=12MiB is more than plimsoll.memory_limit=11MiB" in line for line in caplog.messages
    )


def test_memory_limit_as_a_decorator_that_calls_itself(compiled_since):
    inner = jax.jit(make_scale(13))

    @plimsoll.memory_limit("1GiB")
    def depth(number):
        assert hook.limit_in_force().bytes == 2**30
        return inner(vector()) if number == 0 else depth(number - 1)

    depth(3)
    assert hook.limit_in_force() is None
    assert len(compiled_since("scale")) == 1


class Model:
    @plimsoll.jit(memory_limit="1GiB", static_argnums=0)
    def method(self, x):
        return x * 17


def test_jit_passes_everything_on(compiled_since):
    function = plimsoll.jit(make_outer_sum(), memory_limit=3 * MB, inline=True)
    assert function.__name__ == "outer_sum"
    with pytest.raises(plimsoll.MemoryLimitError):
        function(vector())
    with pytest.raises(plimsoll.MemoryLimitError):
        function.lower(vector()).compile()
    with pytest.raises(plimsoll.MemoryLimitError):
        function.trace(vector()).lower().compile()
    assert function.eval_shape(vector()).shape == (SIDE,)
    np.testing.assert_array_equal(Model().method(vector()), 17 * vector())
    assert plimsoll.jit(make_outer_sum())(vector()).shape == (SIDE,)
    donating = plimsoll.jit(lambda x: x + 1, memory_limit="1GiB", donate_argnums=0)
    argument = vector()
    donating(argument)
    assert argument.is_deleted()


def test_arrays_that_are_held_count_and_arguments_count_once(compiled_since):
    gc.collect()
    function = jax.jit(make_scale(19))
    argument = jnp.ones(5 * MB // 4)
    jax.block_until_ready(argument)
    before = plimsoll.live.bytes_in_use(jax.local_devices()[0]) - argument.nbytes
    with plimsoll.memory_limit(before + 11 * MB):
        function(argument)
    held = jnp.ones(5 * MB // 4, jnp.int32)
    jax.block_until_ready(held)
    with plimsoll.memory_limit(before + 11 * MB + 1):
        with pytest.raises(plimsoll.MemoryLimitError, match="held already by arrays"):
            function(argument)
        del held
        function(argument)


def test_an_argument_that_is_no_array_yet_does_not_stand_for_one_that_is():
    gc.collect()
    function = jax.jit(make_scale(23))
    held = jnp.ones(5 * MB // 4)
    jax.block_until_ready(held)
    before = plimsoll.live.bytes_in_use(jax.local_devices()[0]) - held.nbytes
    with plimsoll.memory_limit(before + 11 * MB):
        with pytest.raises(plimsoll.MemoryLimitError, match="held already"):
            function(np.ones(5 * MB // 4, np.float32))
        # Ahead of the call, an array of that type is taken for the argument.
        function.lower(held).compile()


def test_donated_arguments_are_not_counted_twice():
    def add(x):
        return x + 1

    size = 8 * MB
    argument = jnp.ones(size // 4)
    gc.collect()
    before = plimsoll.live.bytes_in_use(jax.local_devices()[0]) - size
    with plimsoll.memory_limit(before + size + MB):
        with pytest.raises(plimsoll.MemoryLimitError, match="donate_argnums"):
            jax.jit(add)(argument)
        jax.jit(add, donate_argnums=0)(argument)


def test_a_limit_below_the_arguments():
    with plimsoll.memory_limit("1kB"), pytest.raises(plimsoll.MemoryLimitError) as caught:
        jax.jit(make_scale(29))(vector())
    assert "arguments and results alone take more" in str(caught.value)


def test_threads_with_limits_of_their_own():
    function = jax.jit(make_outer_sum())
    outcomes = {}

    def call(limit):
        try:
            with plimsoll.memory_limit(limit):
                outcomes[limit] = function(vector()).shape
        except plimsoll.MemoryLimitError as error:
            outcomes[limit] = error.allowed

    limits = [2 * MB, "1GiB", MB, "2GiB"]
    threads = [threading.Thread(target=call, args=(limit,)) for limit in limits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {2 * MB: 2 * MB, "1GiB": (SIDE,), MB: MB, "2GiB": (SIDE,)}


def test_a_fault_of_the_hook_is_told_and_the_program_still_compiles(monkeypatch, caplog):
    def fail(_):
        raise ZeroDivisionError("a fault on purpose")

    monkeypatch.setattr(roundtrip, "is_forced", lambda: True)
    monkeypatch.setattr(roundtrip, "rewrite", fail)
    with caplog.at_level(5, "plimsoll"):
        np.testing.assert_array_equal(jax.jit(make_scale(31))(vector()), 31 * vector())
        with plimsoll.memory_limit(3 * MB), pytest.raises(plimsoll.MemoryLimitError):
            jax.jit(make_outer_sum())(vector())
    records = [one for one in caplog.records if "a fault on purpose" in one.message]
    assert len(records) == 1
    assert records[0].exc_info[0] is ZeroDivisionError


def test_a_fault_in_the_account_leaves_xlas_own(monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("another fault on purpose")

    monkeypatch.setattr(hook, "hidden_memory_of", fail)
    with caplog.at_level(logging.WARNING, "plimsoll"):
        with plimsoll.memory_limit(3 * MB), pytest.raises(plimsoll.MemoryLimitError):
            jax.jit(make_outer_sum())(vector())
    assert any("another fault on purpose" in line for line in caplog.messages)


def test_text_that_xla_refuses_is_a_fault_too(monkeypatch, caplog):
    from jax._src.lib.mlir import ir as mlir

    def broken(module):
        with module.context:
            return mlir.Module.parse("module @jit_broken {}")

    monkeypatch.setattr(roundtrip, "is_forced", lambda: True)
    monkeypatch.setattr(roundtrip, "rewrite", broken)
    with caplog.at_level(logging.WARNING, "plimsoll"):
        np.testing.assert_array_equal(jax.jit(make_scale(37))(vector()), 37 * vector())
    assert any("XLA refused a program that was changed" in line for line in caplog.messages)


def test_the_round_trip_changes_no_result(monkeypatch, compiled_since):
    expected = jax.jit(make_outer_sum())(vector())
    monkeypatch.setattr(roundtrip, "is_forced", lambda: True)
    with plimsoll.memory_limit("1GiB"):
        found = jax.jit(make_outer_sum())(vector())
    np.testing.assert_array_equal(found, expected)
    assert compiled_since("outer_sum")[-1].is_changed


def test_inspect(compiled_since):
    inspection = plimsoll.inspect(make_outer_sum(), jax.ShapeDtypeStruct((SIDE,), "float32"))
    assert inspection.need.arguments == 4 * SIDE
    assert inspection.need.temporaries >= 4 * MB
    assert 4 * MB <= inspection.largest[0]["bytes"] < 5 * MB
    assert "test_hook.py" in inspection.largest[0]["source"]
    assert "jit_outer_sum needs" in str(inspection)
    assert any(op.name == "stablehlo.custom_call" for op in inspection.module.walk())
    # Whatever the limit, and without letting later calls past it.
    jitted = jax.jit(make_outer_sum())
    with plimsoll.memory_limit(3 * MB):
        assert plimsoll.inspect(jitted, vector()).need.total > 3 * MB
        with pytest.raises(plimsoll.MemoryLimitError):
            jitted(vector())


def test_the_report(compiled_since):
    jax.jit(make_outer_sum())(vector())
    record = compiled_since("outer_sum")[-1]
    assert record.source.startswith(f"{__file__}:")
    assert record.platform == "cpu"
    assert not record.is_changed and not record.is_refused and not record.from_cache
    assert record.limit is None and record.allowed > 0
    assert 0 < record.seconds < 1
    assert record.as_json()["need"]["total"] == record.need.total
    assert "jit_outer_sum" in str(plimsoll.report())


def test_a_bound_decides_for_a_long_program(compiled_since, monkeypatch):
    def make_long():
        def long(x):
            for number in range(300):
                x = jnp.sort(x + number)
            return x

        return long

    argument = vector()
    jax.jit(make_long())(argument)
    record = compiled_since("long")[-1]
    assert record.need is None
    exact = plimsoll.inspect(make_long(), argument).need.total
    assert max(exact, 600 * argument.nbytes) < record.at_most
    with plimsoll.memory_limit(exact - 1), pytest.raises(plimsoll.MemoryLimitError):
        jax.jit(make_long())(argument)
    assert compiled_since("long")[-1].need.total == exact
    monkeypatch.setenv("PLIMSOLL_EXPLAIN", "1")
    jax.jit(make_long())(argument)
    assert compiled_since("long")[-1].need.total == exact
    monkeypatch.delenv("PLIMSOLL_EXPLAIN")


def test_every_way_of_compiling_is_seen(compiled_since):
    from jax import export

    def ways(x):
        return jnp.sin(x) * x

    def count():
        return len(compiled_since("ways"))

    x = vector()
    jax.jit(ways)(x)
    assert count() == 1
    jax.jit(ways).lower(jax.ShapeDtypeStruct((3,), "float32")).compile()
    assert count() == 2
    batch = x[None]
    before = len(plimsoll.report())
    jax.pmap(ways)(batch)
    assert len(plimsoll.report()) > before
    exported = export.export(jax.jit(ways))(x[:7])
    before = len(plimsoll.report())
    jax.jit(exported.call)(x[:7])
    jax.grad(lambda x: ways(x).sum())(x)
    jax.lax.scan(lambda carry, y: (carry + ways(y), y), 0.0, x[:11])
    jax.vmap(ways)(x.reshape(10, -1))
    assert len(plimsoll.report()) > before + 4


def test_the_environment_variable_refuses_early():
    result = run_script(PRODUCT, PLIMSOLL_MEMORY_LIMIT="10MB")
    assert result.returncode == 1
    assert "plimsoll.errors.MemoryLimitError: PL401: jit_product needs" in result.stderr
    assert "(PLIMSOLL_MEMORY_LIMIT=10MB)" in result.stderr
    assert "plimsoll/hook.py" not in result.stderr
    assert run_script(PRODUCT, PLIMSOLL_MEMORY_LIMIT="100MB").stdout == "(2000, 3)\n"
    assert run_script(PRODUCT, PLIMSOLL_MEMORY_LIMIT="10MB", PLIMSOLL="off").returncode == 0


@pytest.mark.parametrize("limit", ["much", "0", "-1", "120%"])
def test_an_environment_variable_that_is_no_limit_stops_the_program(limit):
    result = run_script(PRODUCT, PLIMSOLL_MEMORY_LIMIT=limit)
    assert result.returncode == 1
    assert "PlimsollError: PL204: PLIMSOLL_MEMORY_LIMIT: " in result.stderr


def test_a_script_that_imports_jax_first_and_a_child_process():
    result = run_script(
        """
        import subprocess, sys
        import jax
        jax.numpy.ones(3) + 1
        import plimsoll
        if len(sys.argv) == 1:
            script = sys.orig_argv[2]
            child = subprocess.run([sys.executable, "-c", script, "child"], capture_output=True)
            print(child.stdout.decode(), end="")
        print(plimsoll.report()[-1].allowed, len(plimsoll.report()) > 0)
        """,
        PLIMSOLL_MEMORY_LIMIT="123MB",
    )
    assert result.stdout == "123000000 True\n" * 2, result.stderr


def test_a_fork_keeps_the_limit_and_starts_a_report_of_its_own():
    # XLA's threads do not survive a fork, so a process that forks starts its devices afterwards.
    script = """
    import os
    import jax, jax.numpy as jnp, plimsoll
    def fork():
        process = os.fork()
        return process == 0 or os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if (status := fork()) is True:
        try:
            jax.jit(lambda x: x @ x)(jnp.ones((3000, 3000)))
        except plimsoll.MemoryLimitError:
            os._exit(7)
        os._exit(1)
    jnp.ones(3).block_until_ready()
    if (second := fork()) is True:
        os._exit(len(plimsoll.report()))
    print(status, second, len(plimsoll.report()) > 0)
    """
    result = run_script(script, PLIMSOLL_MEMORY_LIMIT="50MB")
    assert result.stdout == "7 0 True\n", result.stderr


def test_exlas_flags_are_taken_before_xla_sees_them():
    script = """
    {first}
    import jax.numpy as jnp
    jnp.ones(3) + 1
    import os
    print(os.environ["XLA_FLAGS"], os.environ["PLIMSOLL_TENSOR_SIZE_THRESHOLD"],
          os.environ["PLIMSOLL_TENSOR_SPLIT_SIZE"])
    """
    flags = (
        "--xla_tensor_size_threshold=1GB --xla_cpu_enable_fast_math=false"
        " --xla_tensor_split_size=500MB"
    )
    for first in ("import jax", "import plimsoll"):
        result = run_script(script.format(first=first), XLA_FLAGS=flags)
        assert result.stdout == "--xla_cpu_enable_fast_math=false 1GB 500MB\n", result.stderr
    result = run_script("import plimsoll", XLA_FLAGS="--xla_tensor_split_size=much")
    assert "PL204: XLA_FLAGS: --xla_tensor_split_size: expected a size" in result.stderr


CACHED = """
import jax, jax.numpy as jnp, plimsoll
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
held = jnp.ones({held})
x = jnp.ones((1000, 1000))
try:
    @jax.jit
    def cached(x):
        return jnp.linalg.cholesky(x @ x).sum()
    cached(x).block_until_ready()
except plimsoll.MemoryLimitError:
    print("refused", end=" ")
print([one.from_cache for one in plimsoll.report() if one.name == "jit_cached"])
"""


def test_the_persistent_cache_never_serves_what_is_stale(tmp_path):
    def run(held=1, **environment):
        script = CACHED.format(held=held)
        result = run_script(script, JAX_COMPILATION_CACHE_DIR=str(tmp_path), **environment)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    assert run(PLIMSOLL_MEMORY_LIMIT="100MB") == "[False]"
    assert run(PLIMSOLL_MEMORY_LIMIT="100MB") == "[True]"
    assert run(PLIMSOLL_MEMORY_LIMIT="200MB") == "[False]"
    assert run() == "[False]"
    assert run() == "[True]"
    assert run(PLIMSOLL_MEMORY_LIMIT="100MB", PLIMSOLL_FORCE_ROUNDTRIP="1") == "[False]"
    # Found in the cache, but there is no room for it any more.
    assert run(held=23_500_000, PLIMSOLL_MEMORY_LIMIT="100MB") == "refused [False]"


def test_the_persistent_cache_keeps_what_was_cut(tmp_path):
    script = """
    import jax, jax.numpy as jnp, plimsoll
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    x = jnp.ones((2000, 3))
    @jax.jit
    def cut(x):
        return jax.nn.softmax(x @ x.T) @ x
    cut(x).block_until_ready()
    one, = (one for one in plimsoll.report() if one.name == "jit_cut")
    print(one.from_cache, one.need.total < 5e6)
    """
    for outcome in ("False True\n", "True True\n"):
        cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
        assert run_script(script, PLIMSOLL_MEMORY_LIMIT="5MB", **cache).stdout == outcome


def test_a_jax_that_is_not_understood():
    script = """
    from jax._src import compiler
    original = compiler.backend_compile_and_load
    compiler.backend_compile_and_load = lambda *arguments: original(*arguments)
    import jax.numpy as jnp
    print(jnp.ones(3) + 1)
    """
    result = run_script(script)
    assert result.stdout == "[2. 2. 2.]\n"
    assert result.stderr.count("this JAX is not understood, so Plimsoll stays out of it") == 1
    result = run_script(script, PLIMSOLL_MEMORY_LIMIT="1GiB")
    assert result.returncode == 1
    assert "PL302: PLIMSOLL_MEMORY_LIMIT=1GiB cannot be held" in result.stderr


def test_each_device_has_the_limit():
    result = run_script(
        """
        import jax, jax.numpy as jnp, plimsoll
        from jax.sharding import NamedSharding, PartitionSpec
        mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jax.device_put(jnp.ones((4000, 1000)), NamedSharding(mesh, PartitionSpec("x")))
        y = jax.jit(lambda x: jnp.sort(x * 2, axis=1))(x)
        print(plimsoll.report()[-1].need.arguments, plimsoll.report()[-1].need.results)
        x.delete()
        z = jax.jit(lambda y: y + y)(y)
        with plimsoll.memory_limit("12.2MB"):
            jax.jit(lambda y: y * y)(y)
        try:
            with plimsoll.memory_limit("11.9MB"):
                jax.jit(lambda y: y - y * y)(y)
        except plimsoll.MemoryLimitError as error:
            print(12e6 <= error.needed < 12.1e6)
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )
    assert result.stdout == "4000000 4000000\nTrue\n", result.stderr


def test_programs_for_several_devices_are_not_cut_yet():
    result = run_script(
        """
        import jax, jax.numpy as jnp, plimsoll
        from jax.sharding import NamedSharding, PartitionSpec
        mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jax.device_put(jnp.ones((4000, 3)), NamedSharding(mesh, PartitionSpec("x")))
        try:
            with plimsoll.memory_limit("5MB"):
                jax.jit(lambda x: jnp.sort(x @ x.T, axis=1) @ x)(x)
        except plimsoll.MemoryLimitError as error:
            print("programs for several devices are not cut yet" in str(error))
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )
    assert result.stdout == "True\n", result.stderr


def test_log_levels():
    def lines(level):
        return run_script(PRODUCT, PLIMSOLL_LOG=level).stderr.splitlines()

    assert lines("0") == lines("1") == []
    assert any("jit_product" in line for line in lines("2"))
    assert lines("9") == [
        "plimsoll: PLIMSOLL_LOG: expected 0, 1, 2 or 3, found '9'; it is taken for 1"
    ]
