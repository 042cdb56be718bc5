"""How fast plimsoll reads programs, against jaxlib's MLIR in the same run.

    python benchmarks/read_speed.py [--repeat N] [--json FILE]

Two programs: the training step of a 12-layer transformer (many ops), and a constant of 200 MB
(many bytes). Times are the minimum of several runs. Memory is what the process's peak grows by,
measured in a fresh process a case.
"""

from __future__ import annotations

import argparse
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 12, 256, 8, 1000, 128, 4
CONSTANT_BYTES = 200_000_000


def lower_transformer_step():
    """Forward, backward and an Adam update, in plain JAX and optax, one layer after the other."""
    import jax
    import jax.numpy as jnp
    import optax

    def norm(x, scale):
        centered = x - x.mean(-1, keepdims=True)
        return scale * centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-6)

    def attention(x, layer):
        q, k, v = (
            jnp.einsum("btd,dhe->bthe", x, layer[name]) for name in ("query", "key", "value")
        )
        scores = jnp.einsum("bthe,bshe->bhts", q, k) / jnp.sqrt(WIDTH // HEADS)
        mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
        return jnp.einsum("bhts,bshe,hed->btd", weights, v, layer["out"])

    def loss(parameters, tokens):
        x = parameters["embedding"][tokens]
        for layer in parameters["layers"]:
            x = x + attention(norm(x, layer["scale1"]), layer)
            hidden = jax.nn.gelu(norm(x, layer["scale2"]) @ layer["up"])
            x = x + hidden @ layer["down"]
        logits = jax.nn.log_softmax(x @ parameters["embedding"].T)
        return -jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], -1).mean()

    optimizer = optax.adamw(1e-3)

    def step(parameters, state, tokens):
        value, gradient = jax.value_and_grad(loss)(parameters, tokens)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    def shape(*size):
        return jax.ShapeDtypeStruct(size, jnp.float32)

    head = WIDTH // HEADS
    layer = {name: shape(WIDTH, HEADS, head) for name in ("query", "key", "value")}
    layer |= {"out": shape(HEADS, head, WIDTH), "scale1": shape(WIDTH), "scale2": shape(WIDTH)}
    layer |= {"up": shape(WIDTH, 4 * WIDTH), "down": shape(4 * WIDTH, WIDTH)}
    parameters = {"embedding": shape(VOCABULARY, WIDTH), "layers": [layer] * LAYERS}
    state = jax.eval_shape(optimizer.init, parameters)
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    return jax.jit(step).lower(parameters, state, tokens)


def big_constant():
    import jax
    import jax.numpy as jnp
    import numpy as np

    values = np.random.default_rng(0).standard_normal(CONSTANT_BYTES // 4, dtype=np.float32)
    shape = jax.ShapeDtypeStruct(values.shape, jnp.float32)
    return jax.jit(lambda x: x + values).lower(shape).compiler_ir()


def artifact(module) -> bytes:
    """A portable artifact of a copy, because writing one changes the module."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with module.context:
        copy = ir.Module.parse(native_bytecode(module))
    return stablehlo.serialize_portable_artifact(copy, stablehlo.get_current_version(), True)


def native_bytecode(module) -> bytes:
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


def read_with_jaxlib(source: bytes, is_artifact: bool) -> None:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    context = mlir.make_ir_context()
    if is_artifact:
        stablehlo.deserialize_portable_artifact(context, source)
    else:
        with context:
            ir.Module.parse(source)


def read_with_plimsoll(source: bytes, is_artifact: bool) -> None:
    import plimsoll.ir

    plimsoll.ir.parse(source)


READERS: dict[str, Callable[[bytes, bool], None]] = {
    "plimsoll": read_with_plimsoll,
    "jaxlib": read_with_jaxlib,
}


def peak_kib(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {field}")


def measure(reader: str, path: pathlib.Path, is_artifact: bool, repeat: int) -> dict[str, float]:
    """Runs in a process of its own: the shortest of `repeat` readings, and what they add."""
    source = path.read_bytes()
    read = READERS[reader]
    read(b'"builtin.module"() ({^bb0:}) : () -> ()', False)  # Loads the library.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = peak_kib("VmRSS")
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        read(source, is_artifact)
        times.append(time.perf_counter() - start)
    return {"ms": 1e3 * min(times), "peak_mb": (peak_kib("VmHWM") - before) * 1024 / 1e6}


def measure_apart(reader: str, path: pathlib.Path, is_artifact: bool, repeat: int) -> dict:
    command = [sys.executable, __file__, "--measure", reader, str(path), str(int(is_artifact))]
    command += ["--repeat", str(repeat)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        reader, path, is_artifact = arguments.measure
        result = measure(reader, pathlib.Path(path), is_artifact == "1", arguments.repeat)
        print(json.dumps(result))
        return 0

    import plimsoll.ir

    rows = []
    slower = 0
    for name, make in {
        "12-layer training step": lambda: lower_transformer_step().compiler_ir(),
        "200 MB constant": big_constant,
    }.items():
        module = make()
        forms = {"artifact": artifact(module), "bytecode": native_bytecode(module)}
        del module
        ops = sum(1 for _ in plimsoll.ir.parse(forms["artifact"]).walk())
        for form, source in forms.items():
            with tempfile.NamedTemporaryFile() as file:
                file.write(source)
                file.flush()
                path = pathlib.Path(file.name)
                row = {"program": name, "form": form, "ops": ops, "bytes": len(source)}
                for reader in READERS:
                    row[reader] = measure_apart(reader, path, form == "artifact", arguments.repeat)
                row["ratio"] = row["plimsoll"]["ms"] / row["jaxlib"]["ms"]
                slower += row["ratio"] >= 1
                rows.append(row)
    print(
        "program                 form        ops        bytes  plimsoll ms  jaxlib ms  ratio"
        "  plimsoll peak MB  jaxlib peak MB"
    )
    for row in rows:
        ours, theirs = row["plimsoll"], row["jaxlib"]
        print(
            f"{row['program']:23} {row['form']:9} {row['ops']:5} {row['bytes']:12,}"
            f" {ours['ms']:12.1f} {theirs['ms']:10.1f} {row['ratio']:6.2f}"
            f" {ours['peak_mb']:17.1f} {theirs['peak_mb']:15.1f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
