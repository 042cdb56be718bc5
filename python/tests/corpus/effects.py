"""Calls out of the program, side effects, composites, and names with awkward characters."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import checkify, io_callback
from jax.experimental.compute_on import compute_on
from jax.experimental.xla_metadata import set_xla_metadata

from corpus.program import Theme, f32, f64, i32

theme = Theme("effects", runnable=False)
X = f32(3)


def host_sine(x):
    return np.sin(x)


SHAPE = jax.ShapeDtypeStruct((3,), np.float32)
theme.add("pure_callback", lambda x: jax.pure_callback(host_sine, SHAPE, x), X)
theme.add(
    "pure_callback-two",
    lambda x: jax.pure_callback(host_sine, SHAPE, jax.pure_callback(host_sine, SHAPE, x)),
    X,
)
theme.add(
    "pure_callback-vmap",
    jax.vmap(
        lambda x: jax.pure_callback(
            host_sine, jax.ShapeDtypeStruct((), np.float32), x, vmap_method="sequential"
        )
    ),
    X,
)
theme.add("io_callback", lambda x: io_callback(host_sine, SHAPE, x), X)
theme.add(
    "io_callback-ordered",
    lambda x: io_callback(
        host_sine, SHAPE, io_callback(host_sine, SHAPE, x, ordered=True), ordered=True
    ),
    X,
)
theme.add("debug-print", lambda x: (jax.debug.print('x = {x} "quoted" ü', x=x), x + 1)[1], X)
theme.add("debug-print-ordered", lambda x: (jax.debug.print("{}", x, ordered=True), x)[1], X)
theme.add("debug-callback", lambda x: (jax.debug.callback(print, x), x)[1], X)
theme.add(
    "callback-in-loop",
    lambda x: lax.fori_loop(0, 3, lambda i, c: jax.pure_callback(host_sine, SHAPE, c), x),
    X,
)
theme.add(
    "callback-ordered-in-loop",
    lambda x: lax.fori_loop(
        0, 3, lambda i, c: (jax.debug.print("{i}", i=i, ordered=True), c * 2)[1], x
    ),
    X,
)
theme.add(
    "callback-in-cond",
    lambda x: lax.cond(x[0] > 0, lambda v: jax.pure_callback(host_sine, SHAPE, v), jnp.cos, x),
    X,
)
theme.add(
    "checkify",
    lambda x: checkify.checkify(
        lambda y: (checkify.check(y[0] > 0, "not positive: {v}", v=y[0]), jnp.log(y))[1],
        errors=checkify.all_checks,
    )(x),
    X,
)

call = functools.partial(jax.ffi.ffi_call, result_shape_dtypes=SHAPE)
ATTRIBUTES = dict(
    text='a "quoted" é \\ \n\t\0 text',
    integer=np.int32(-7),
    long=np.int64(1 << 40),
    single=np.float32(0.1),
    double=np.float64(np.nan),
    yes=True,
    integers=np.array([1, 2, 3], np.int64),
    floats=np.array([0.5, -0.0], np.float32),
    nothing=np.zeros(0, np.int8),
    nested=dict(inner="x", n=np.uint8(3)),
)
theme.add("ffi", lambda x: call("target")(x), X)
theme.add("ffi-attributes", lambda x: call("target")(x, **ATTRIBUTES), X)
theme.add("ffi-side-effect", lambda x: call("target", has_side_effect=True)(x), X)
theme.add("ffi-aliases", lambda x: call("target", input_output_aliases={0: 0})(x), X)
theme.add(
    "ffi-layouts",
    lambda x: jax.ffi.ffi_call(
        "target",
        (jax.ShapeDtypeStruct((3, 5), np.float32), SHAPE),
        input_layouts=[(1, 0)],
        output_layouts=[(0, 1), None],
    )(x, flag=False),
    f32(5, 3),
)
theme.add(
    "ffi-legacy",
    lambda x: call(
        "target", custom_call_api_version=2, legacy_backend_config="opaque \x01 \xff bytes"
    )(x),
    X,
)
theme.add("ffi-name", lambda x: call('näme with "quotes" and spaces')(x), X)
theme.add("ffi-no-operands", lambda: call("target")())
theme.add("ffi-vmap", jax.vmap(lambda x: call("target", vmap_method="broadcast_all")(x)), f32(5, 3))
theme.add("ffi-f64", lambda x: call("target")(x, n=np.arange(3)), f64(3), x64=True)
theme.add(
    "ffi-no-result", lambda x: (jax.ffi.ffi_call("target", (), has_side_effect=True)(x), x)[1], X
)


@functools.partial(lax.composite, name="plimsoll.scaled_sine", version=3)
def scaled_sine(x, *, scale, label):
    return jnp.sin(x) * scale


theme.add(
    "composite", lambda x: scaled_sine(x, scale=np.float32(2.5), label='é "q"'), X, runnable=True
)
theme.add(
    "composite-twice",
    lambda x: scaled_sine(
        scaled_sine(x, scale=np.float32(1), label="a"), scale=np.float32(1), label="b"
    ),
    X,
    runnable=True,
)
theme.add(
    "composite-plain",
    lambda x: lax.composite(lambda y: jnp.tanh(y) + 1, "my.op")(x),
    X,
    runnable=True,
)
theme.add(
    "composite-array-attribute",
    lambda x: lax.composite(lambda y, *, axes, table: y.sum() + table[0], "my.sum")(
        x, axes=(0, 1), table=np.arange(3)
    ),
    X,
)

NAMES = {
    "plain": "layer",
    "quotes": 'a "quoted" name',
    "unicode": "schicht→λ 層 🚀",
    "escapes": "back\\slash tab\t newline\n bell\x07 del\x7f",
    "slashes": "a/b//c",
    "long": "n" * 500,
    "percent": "100%s {x} $y @z #w ^v !u",
}
for name, text in NAMES.items():

    def scoped(x, text=text):
        with jax.named_scope(text):
            return jnp.sin(x) + lax.cond(x[0] > 0, jnp.cos, jnp.exp, x)

    theme.add(f"scope-{name}", scoped, X, runnable=True)

    def renamed(x):
        return jnp.sin(x)

    renamed.__name__ = text
    theme.add(f"function-name-{name}", renamed, X)
    inner = jax.jit(renamed)
    theme.add(f"inner-name-{name}", lambda x, f=inner: f(x) + f(x * 2), X, runnable=True)
theme.add("named_call", jax.named_call(lambda x: jnp.sin(x), name="my λ call"), X, runnable=True)


@theme.program(X, i32(2))
def argument_names_with_üñí(größe, 数):
    return größe * 2, 数 + 1


@theme.program(X)
def metadata(x):
    with set_xla_metadata(key="value", number=3, quote='"'):
        y = jnp.sin(x)
    return set_xla_metadata(y * 2, other="é")


theme.add(
    "metadata-in-loop",
    lambda x: lax.fori_loop(0, 3, lambda i, c: set_xla_metadata(c * 2, step="s"), x),
    X,
)
theme.add(
    "compute_on",
    lambda x: (
        compute_on(
            lambda y: y * 2, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device
        )(x)
        + 1
    ),
    X,
    min_jax=(0, 12),
)
theme.add(
    "full-tracebacks",
    lambda x: jnp.sin(jnp.cos(x)),
    X,
    runnable=True,
    config={"jax_include_full_tracebacks_in_locations": True},
)
theme.add(
    "short-tracebacks",
    lambda x: jnp.sin(jnp.cos(x)),
    X,
    runnable=True,
    config={"jax_include_full_tracebacks_in_locations": False},
)
theme.add(
    "traceback-limit",
    lambda x: jnp.sin(jnp.cos(x)),
    X,
    runnable=True,
    config={"jax_traceback_in_locations_limit": 1},
)
theme.add(
    "no-locations",
    lambda x: jnp.sin(jnp.cos(x)),
    X,
    runnable=True,
    config={"jax_traceback_in_locations_limit": 0},
)
