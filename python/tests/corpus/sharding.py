"""Programs for several devices: shardings of both partitioners, shard_map, pmap, collectives,
layouts and memory kinds."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

from corpus.program import Theme, bf16, f32, i32

theme = Theme("sharding", runnable=False)
GSPMD = {"jax_use_shardy_partitioner": False}

AUTO = (AxisType.Auto,) * 2
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=AUTO)
line = jax.make_mesh((8,), ("i",), axis_types=AUTO[:1])
cube = jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=AUTO + AUTO[:1])
explicit = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)


def on(*spec, mesh=mesh, **options):
    return NamedSharding(mesh, P(*spec), **options)


def both(name, function, *args, **options):
    """The same program for Shardy and for GSPMD: other dialects, other attributes."""
    theme.add(f"{name}-sdy", function, *args, **options)
    theme.add(f"{name}-gspmd", function, *args, config=GSPMD, **options)


X = f32(8, 4)
SPECS = {
    "rows": ("x",),
    "columns": (None, "y"),
    "tiles": ("x", "y"),
    "both-on-rows": (("x", "y"),),
    "replicated": (),
    "unconstrained": (P.UNCONSTRAINED, "y"),
}
for name, spec in SPECS.items():
    if name != "unconstrained":
        both(f"jit-{name}", lambda x: jnp.sin(x) @ x.T, X, jit=dict(in_shardings=on(*spec)))
    both(
        f"constraint-{name}",
        lambda x, s=spec: lax.with_sharding_constraint(x * 2, on(*s)).sum(),
        X,
    )
both("jit-out", lambda x: x + 1, X, jit=dict(in_shardings=on("x"), out_shardings=on(None, "y")))
both(
    "jit-matmul",
    jnp.matmul,
    X,
    f32(4, 8),
    jit=dict(in_shardings=(on("x"), on(None, "y")), out_shardings=on("x", "y")),
)
both(
    "jit-grad",
    jax.grad(lambda w, x: jnp.tanh(x @ w).sum()),
    f32(4, 2),
    X,
    jit=dict(in_shardings=(on(), on("x"))),
)
both("jit-donate", lambda x, y: (x + y, y), X, X, jit=dict(in_shardings=on("x"), donate_argnums=0))
both(
    "jit-cube",
    lambda x: x.sum(0),
    f32(4, 4, 2),
    jit=dict(in_shardings=on(("a", "c"), "b", mesh=cube), out_shardings=on("b", mesh=cube)),
)
both(
    "jit-scan",
    lambda x: lax.scan(lambda c, r: (lax.with_sharding_constraint(c + r, on("x")), c), x[0], x),
    f32(3, 8),
    jit=dict(in_shardings=on(None, "x")),
)
both(
    "jit-random",
    lambda k: jax.random.normal(k, (8, 4)),
    np.uint32([1, 2]),
    jit=dict(out_shardings=on("x", "y")),
)
both(
    "jit-tree",
    lambda t: jax.tree.map(jnp.sin, t),
    {"a": X, "b": f32(8)},
    jit=dict(in_shardings=({"a": on("x", "y"), "b": on("x")},)),
)
both("device_put", lambda x: jax.device_put(x, on("x")) * 2, X, jit=dict(in_shardings=on()))
both(
    "single-device",
    lambda x: x + 1,
    X,
    jit=dict(in_shardings=SingleDeviceSharding(jax.devices()[3])),
)

permuted = jax.sharding.Mesh(np.array(jax.devices())[::-1].reshape(2, 4), ("p", "q"))
both("jit-permuted-devices", lambda x: x * 2, X, jit=dict(in_shardings=on("q", "p", mesh=permuted)))


@theme.program(
    jax.ShapeDtypeStruct((8, 4), np.float32, sharding=on("x", "y", mesh=explicit)),
    jax.ShapeDtypeStruct((4, 8), np.float32, sharding=on("y", mesh=explicit)),
)
def explicit_axes(x, y):
    """Shardings as a part of types, with resharding on demand."""
    product = jnp.einsum("ij,jk->ik", x, y, out_sharding=on("x", mesh=explicit))
    return jax.sharding.reshard(product, on(None, "y", mesh=explicit)) * 2


ROWS = P("i")


def mapped(function, in_specs=ROWS, out_specs=ROWS, mesh=line, **options):
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


PAIRS = [(k, (k + 1) % 8) for k in range(8)]
GROUPS = [[0, 1, 2, 3], [4, 5, 6, 7]]
COLLECTIVES = {
    "psum": (lambda x: lax.psum(x, "i"), P()),
    "pmax": (lambda x: lax.pmax(x, "i"), P()),
    "pmin": (lambda x: lax.pmin(x, "i"), P()),
    "pmean": (lambda x: lax.pmean(x, "i"), P()),
    "all_gather": (lambda x: lax.all_gather(x, "i").reshape(8, -1)[:1], P("i")),
    "all_gather-tiled": (lambda x: lax.all_gather(x, "i", axis=1, tiled=True), P("i")),
    "ppermute": (lambda x: lax.ppermute(x, "i", PAIRS), P("i")),
    "pshuffle": (lambda x: lax.pshuffle(x, "i", [7, 6, 5, 4, 3, 2, 1, 0]), P("i")),
    "psum_scatter": (lambda x: lax.psum_scatter(x.reshape(8, 1), "i"), P("i")),
    "psum_scatter-tiled": (
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
        P("i"),
    ),
    "all_to_all": (lambda x: lax.all_to_all(x, "i", 1, 0), P("i")),
    "all_to_all-tiled": (lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True), P("i")),
    "pswapaxes": (lambda x: lax.pswapaxes(x, "i", 1), P("i")),
    "axis_index": (lambda x: x + lax.axis_index("i"), P("i")),
    "axis_size": (lambda x: x * lax.axis_size("i"), P("i")),
}
for name, (function, out) in COLLECTIVES.items():
    both(f"shard_map-{name}", mapped(function, out_specs=out), f32(8, 8))
for name in "psum pmax all_gather".split():
    function = functools.partial(getattr(lax, name), axis_name="i", axis_index_groups=GROUPS)
    both(f"shard_map-{name}-groups", mapped(function, check_vma=False), f32(8, 8))
theme.add(
    "shard_map-pbroadcast",
    mapped(lambda x: lax.pbroadcast(x, "i", 3), check_vma=False),
    f32(8),
    platforms=("cuda",),
)
both(
    "shard_map-psum-dtypes",
    mapped(lambda *v: [lax.psum(x, "i") for x in v], (P("i"),) * 3, P()),
    f32(8),
    i32(8),
    bf16(8),
)
both("shard_map-2d", mapped(lambda x: lax.psum(x, ("x", "y")), P("x", "y"), P(), mesh), X)
both("shard_map-one-of-two", mapped(lambda x: lax.psum(x, "y"), P("x", "y"), P("x"), mesh), X)
both(
    "shard_map-grad",
    jax.grad(lambda x: mapped(lambda v: lax.psum(v**2, "i"), out_specs=P())(x).sum()),
    f32(8, 2),
)
both(
    "shard_map-matmul",
    mapped(lambda a, b: lax.psum(a @ b, "y"), (P("x", "y"), P("y")), P("x"), mesh),
    X,
    f32(4, 2),
)
both(
    "shard_map-loop",
    mapped(lambda x: lax.fori_loop(0, 8, lambda k, v: lax.ppermute(v, "i", PAIRS) + k, x)),
    f32(8, 2),
)
both(
    "shard_map-cond",
    mapped(lambda x: lax.cond(lax.axis_index("i") == 0, jnp.sin, jnp.cos, x)),
    f32(8, 2),
)
both("shard_map-vmap", jax.vmap(mapped(lambda x: lax.psum(x, "i"), out_specs=P())), f32(3, 8))
theme.add(
    "shard_map-partial",
    mapped(lambda x: lax.psum(x, "x") + 1, P("x"), P(), mesh, axis_names={"x"}),
    X,
)
theme.add(
    "shard_map-nested-partial",
    mapped(
        lambda x: jax.shard_map(
            lambda v: lax.psum(v, "y"), in_specs=P(None, "y"), out_specs=P(), axis_names={"y"}
        )(x),
        P("x"),
        P("x"),
        mesh,
        axis_names={"x"},
    ),
    X,
)
theme.add(
    "shard_map-pcast",
    mapped(lambda x: lax.psum(lax.pcast(jnp.ones(2), "i", to="varying") * x, "i"), out_specs=P()),
    f32(8, 2),
)
theme.add(
    "shard_map-callbacks-inside-jit",
    lambda x: jnp.sin(mapped(lambda v: v + lax.psum(v, "i"))(x * 2)),
    f32(8, 2),
    jit=dict(in_shardings=on("i", mesh=line)),
)


def ragged(operand, output, sizes):
    offsets = jnp.arange(8) * 1
    return lax.ragged_all_to_all(
        operand, output, offsets, sizes, offsets, sizes, axis_name="i", axis_index_groups=None
    )


both(
    "shard_map-ragged_all_to_all",
    mapped(ragged, (P("i"), P("i"), P()), P("i"), check_vma=False),
    f32(64),
    f32(64),
    np.ones(8, np.int32),
)


def send_and_receive(x):
    token = lax.psend(x, "i", [(0, 1)])
    return lax.precv(token, jax.ShapeDtypeStruct(x.shape, x.dtype), "i", [(0, 1)])


theme.add(
    "shard_map-send-and-receive",
    mapped(send_and_receive, check_vma=False),
    f32(8),
    platforms=("cuda",),
)
if hasattr(lax, "psum_scatter_start"):

    def scatter_and_wait(x):
        return lax.psum_scatter_start(x, "i", scatter_dimension=0, tiled=True)

    theme.add("shard_map-psum_scatter_start", mapped(scatter_and_wait, P()), f32(8, 8))
theme.add("pmap", jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i"), f32(8, 3))
theme.add("pmap-grad", jax.pmap(jax.grad(lambda x: jnp.sin(x).sum())), f32(8, 3))
theme.add("pmap-index", jax.pmap(lambda x: x + lax.axis_index("i"), axis_name="i"), f32(8))


@jax.custom_batching.sequential_vmap
def sequential(x):
    return jnp.sin(x)


theme.add("sequential_vmap", lambda x: jax.vmap(sequential)(x), X, runnable=True)

partitioned_sine = custom_partitioning(jnp.sin)
partitioned_sine.def_partition(
    partition=lambda mesh, args, result: (mesh, jnp.sin, result.sharding, (args[0].sharding,)),
    infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
    sharding_rule="i j -> i j",
)
theme.add("custom_partitioning", partitioned_sine, X, jit=dict(in_shardings=on("x")))

# Layouts and memory kinds.
device = SingleDeviceSharding(jax.devices()[0])
COLUMN_MAJOR = Format(Layout((0, 1)), device)
theme.add(
    "layout-in-out",
    lambda x: x @ x.T,
    f32(3, 5),
    jit=dict(in_shardings=COLUMN_MAJOR, out_shardings=Format(Layout((1, 0)), device)),
)
theme.add(
    "layout-tiles",
    lambda x: x * 2,
    f32(16, 256),
    jit=dict(in_shardings=Format(Layout((0, 1), tiling=((8, 128),)), device)),
)
theme.add(
    "layout-auto",
    lambda x: x.T,
    f32(3, 5),
    jit=dict(in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)),
)
both(
    "memory-kind-in", lambda x: x + 1, X, jit=dict(in_shardings=on("x", memory_kind="pinned_host"))
)
both(
    "memory-kind-put",
    lambda x: jax.device_put(x, on("x", memory_kind="pinned_host")),
    X,
    jit=dict(in_shardings=on("x")),
)
both("memory-space", lambda x: jax.device_put(x, jax.memory.Space.Host), X)
