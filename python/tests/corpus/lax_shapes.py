"""jax.lax functions that only move values: reshape, slice, pad, concatenate, and so on."""

from __future__ import annotations

import functools

import numpy as np
from jax import lax

from corpus.program import Theme, bf16, boolean, c64, f32, f64, i8, i32, i64, integers, u8, u32

theme = Theme("lax_shapes")

KINDS = (f32, bf16, i32, i8, u8, boolean, c64)


def over_kinds(name, function, *shape, **options):
    """The function over one array of each kind."""
    theme.add_over(name, function, *[(kind(*shape),) for kind in KINDS], **options)


over_kinds("reshape", lambda x: lax.reshape(x, (5, 6)), 2, 3, 5)
over_kinds("reshape-dimensions", lambda x: lax.reshape(x, (30,), (2, 0, 1)), 2, 3, 5)
over_kinds("reshape-scalar", lambda x: lax.reshape(x, ()), 1, 1)
over_kinds("reshape-empty", lambda x: lax.reshape(x, (7, 0, 3)), 0, 5)
over_kinds("transpose", lambda x: lax.transpose(x, (2, 0, 1)), 2, 3, 5)
theme.add("transpose-rank-6", lambda x: lax.transpose(x, (5, 0, 3, 1, 4, 2)), f32(1, 2, 3, 1, 2, 1))
over_kinds("rev", lambda x: lax.rev(x, (0, 2)), 2, 3, 5)
over_kinds("slice", lambda x: lax.slice(x, (1, 0), (5, 7)), 5, 7)
over_kinds("slice-strides", lambda x: lax.slice(x, (0, 1), (5, 6), (2, 3)), 5, 7)
over_kinds("slice-empty", lambda x: lax.slice(x, (3, 0), (3, 7)), 5, 7)
theme.add("slice_in_dim", lambda x: lax.slice_in_dim(x, -3, None, 2, axis=1), f32(3, 7))
theme.add("index_in_dim", lambda x: lax.index_in_dim(x, -1, 1, keepdims=False), f32(3, 7))
over_kinds("pad", lambda x: lax.pad(x, x.dtype.type(0), [(1, 2, 0), (0, 0, 3)]), 3, 2)
over_kinds("pad-negative", lambda x: lax.pad(x, x.dtype.type(1), [(-1, 2, 0), (3, -2, 1)]), 5, 7)
theme.add("pad-f64", lambda x: lax.pad(x, 0.0, [(1, 1, 1)]), f64(3), x64=True)
over_kinds("concatenate", lambda x: lax.concatenate([x, x[:1], x[:0]], 0), 3, 5)
theme.add("concatenate-last", lambda x, y: lax.concatenate([x, y, x], 1), f32(3, 1), f32(3, 4))
theme.add("concatenate-one", lambda x: lax.concatenate([x], 0), f32(3))
over_kinds("broadcast", lambda x: lax.broadcast(x, (2, 1)), 3)
over_kinds("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 3, 5), (1, 2)), 1, 5)
theme.add("broadcast_in_dim-scalar", lambda x: lax.broadcast_in_dim(x, (0, 3), ()), f32())
theme.add("broadcast_to_rank", lambda x: lax.broadcast_to_rank(x, 4), f32(3, 5))
theme.add("collapse", lambda x: lax.collapse(x, 1, 3), f32(2, 3, 5, 1))
theme.add("expand_dims", lambda x: lax.expand_dims(x, (0, -1, 2)), f32(3, 5))
theme.add("squeeze", lambda x: lax.squeeze(x, (0, 2)), f32(1, 3, 1, 5))
theme.add("split", lambda x: lax.split(x, (1, 0, 4), axis=1), f32(3, 5))
theme.add("tile", lambda x: lax.tile(x, (2, 1, 3)), f32(1, 2, 3))
theme.add("stack", lambda x, y: lax.stack([x, y], 1), f32(3, 5), f32(3, 5))
theme.add("unstack", lambda x: lax.unstack(x, 1), f32(3, 5))

for old, new, shape in (
    (f32, "int32", (3, 5)),
    (i32, "float32", (3,)),
    (f32, "uint8", (3,)),
    (i8, "int32", (3, 4)),
    (u32, "bfloat16", (5,)),
    (i8, "int4", (5,)),
    (u32, "float8_e5m2", (2,)),
):
    theme.add(
        f"bitcast_convert_type-{old(1).dtype}-{new}",
        lambda x, new=new: lax.bitcast_convert_type(x, new),
        old(*shape),
        runnable=new not in ("int4", "float8_e5m2"),
    )
theme.add("bitcast-c128", lambda x: lax.bitcast_convert_type(x, "int32"), i64(3), x64=True)

START = integers(0, 4, 2)
over_kinds("dynamic_slice", lambda x: lax.dynamic_slice(x, START, (2, 3)), 5, 7)
theme.add(
    "dynamic_slice-scalars",
    lambda x, i, j: lax.dynamic_slice(x, (i, j), (1, 7)),
    f32(5, 7),
    np.int32(9),
    np.int32(-3),
)
theme.add(
    "dynamic_slice-no-negative",
    lambda x, i: lax.dynamic_slice(x, (i,), (2,), allow_negative_indices=False),
    f32(5),
    np.uint8(2),
)
theme.add(
    "dynamic_slice-i64",
    lambda x, i: lax.dynamic_slice(x, (i,), (2,)),
    f64(5),
    np.int64(2),
    x64=True,
)
theme.add(
    "dynamic_slice_in_dim",
    lambda x, i: lax.dynamic_slice_in_dim(x, i, 3, 1),
    f32(2, 7),
    np.int32(5),
)
theme.add(
    "dynamic_index_in_dim",
    lambda x, i: lax.dynamic_index_in_dim(x, i, 1, False),
    f32(2, 7),
    np.int32(5),
)
over_kinds("dynamic_update_slice", lambda x: lax.dynamic_update_slice(x, x[:2, :3], START), 5, 7)
theme.add(
    "dynamic_update_slice_in_dim",
    lambda x, y, i: lax.dynamic_update_slice_in_dim(x, y, i, 0),
    f32(5, 3),
    f32(2, 3),
    np.int32(1),
)
theme.add(
    "dynamic_update_index_in_dim",
    lambda x, y, i: lax.dynamic_update_index_in_dim(x, y, i, 0),
    f32(5, 3),
    f32(3),
    np.int32(1),
)
theme.add(
    "index_take", lambda x, i: lax.index_take(x, (i, i), (0, 1)), f32(5, 7), integers(0, 4, 3)
)


@theme.program(f32(3, 5))
def shape_helpers(x):
    """Functions that answer with a shape and leave no op behind."""
    shape = lax.broadcast_shapes(x.shape, (1, 5), (5,))
    pads = lax.padtype_to_pads((7, 7), (3, 3), (2, 2), "SAME")
    window = lax.reduce_window_shape_tuple((7, 7), (3, 3), (2, 2), pads)
    return lax.full(shape, float(sum(window)), lax.dtype(x)) + x


@theme.program(f32(2, 3))
def chain_of_moves(x):
    moves = [
        functools.partial(lax.rev, dimensions=(1,)),
        functools.partial(lax.transpose, permutation=(1, 0)),
        functools.partial(lax.pad, padding_value=np.float32(0), padding_config=[(1, 0, 1)] * 2),
        functools.partial(lax.reshape, new_sizes=(3, 8)),
    ]
    for move in moves:
        x = move(x)
    return x
