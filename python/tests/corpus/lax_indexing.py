"""Gather and scatter in all their modes, and the indexing of jax.numpy that becomes them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corpus.program import Theme, bf16, boolean, c64, f32, f64, i4, i8, i32, integers, u8

theme = Theme("lax_indexing")

MODES = ("clip", "fill", "promise_in_bounds")
ROWS = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
BATCHED_ROWS = lax.GatherDimensionNumbers(
    offset_dims=(2,),
    collapsed_slice_dims=(1,),
    start_index_map=(1,),
    operand_batching_dims=(0,),
    start_indices_batching_dims=(0,),
)
WINDOWS = lax.GatherDimensionNumbers(
    offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(1, 0)
)
SCATTER_ROWS = lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)
SCATTER_BATCHED = lax.ScatterDimensionNumbers(
    update_window_dims=(2,),
    inserted_window_dims=(1,),
    scatter_dims_to_operand_dims=(1,),
    operand_batching_dims=(0,),
    scatter_indices_batching_dims=(0,),
)

for mode in MODES:
    for sorted_, unique in ((False, False), (True, True)):
        flags = dict(mode=mode, indices_are_sorted=sorted_, unique_indices=unique)
        suffix = f"{mode}{'-sorted-unique' if sorted_ else ''}"
        theme.add(
            f"gather-{suffix}",
            lambda x, i, flags=flags: lax.gather(x, i, ROWS, (1, 3), **flags),
            f32(7, 3),
            np.int32([[0], [2], [3], [6]]),
        )
        theme.add(
            f"gather-batching-{suffix}",
            lambda x, i, flags=flags: lax.gather(x, i, BATCHED_ROWS, (1, 1, 3), **flags),
            f32(2, 7, 3),
            np.int32([[[0], [5]], [[1], [6]]]),
        )
theme.add(
    "gather-windows",
    lambda x, i: lax.gather(x, i, WINDOWS, (2, 3), mode="clip"),
    f32(5, 7),
    integers(0, 9, 3, 2),
)
theme.add(
    "gather-fill-value",
    lambda x, i: lax.gather(x, i, ROWS, (1, 3), mode="fill", fill_value=-1),
    i32(7, 3),
    integers(-2, 9, 4, 1),
)
theme.add(
    "gather-empty",
    lambda x, i: lax.gather(x, i, ROWS, (1, 3), mode="clip"),
    f32(7, 3),
    integers(0, 7, 0, 1),
)
theme.add_over(
    "gather-dtypes",
    lambda x, i: lax.gather(x, i, ROWS, (1, 3), mode="fill"),
    *[(kind(7, 3), integers(0, 9, 4, 1)) for kind in (f32, bf16, i8, u8, boolean, c64)],
)
theme.add(
    "gather-i64-indices",
    lambda x, i: lax.gather(x, i, ROWS, (1, 3), mode="clip"),
    f64(7, 3),
    integers(0, 9, 4, 1, dtype=np.int64),
    x64=True,
)

SCATTERS = "scatter scatter_add scatter_sub scatter_mul scatter_min scatter_max".split()
for name in SCATTERS:
    function = getattr(lax, name)
    for mode in MODES:
        theme.add(
            f"{name}-{mode}",
            lambda x, i, u, f=function, m=mode: f(x, i, u, SCATTER_ROWS, mode=m),
            f32(7, 3),
            np.int32([[0], [3], [5]]),
            2 * f32(3, 3),
        )
    theme.add(
        f"{name}-batching",
        lambda x, i, u, f=function: f(
            x, i, u, SCATTER_BATCHED, indices_are_sorted=True, unique_indices=True
        ),
        f32(2, 7, 3),
        np.int32([[[0], [5]], [[1], [6]]]),
        2 * f32(2, 2, 3),
    )
    kinds = (f32, bf16, i32, u8) + ((boolean,) if name == "scatter" else ())
    theme.add_over(
        f"{name}-dtypes",
        lambda x, i, u, f=function: f(x, i, u, SCATTER_ROWS),
        *[(kind(7, 3), integers(0, 9, 4, 1), kind(4, 3)) for kind in kinds],
        runnable=name != "scatter",  # Of two updates of one place, either may win.
    )
theme.add(
    "scatter_apply",
    lambda x, i: lax.scatter_apply(x, i, jnp.sin, SCATTER_ROWS, update_shape=(2, 3)),
    f32(7, 3),
    np.int32([[1], [4]]),
)
theme.add(
    "scatter_add-complex",
    lambda x, i, u: lax.scatter_add(x, i, u, SCATTER_ROWS),
    c64(7, 3),
    integers(0, 7, 4, 1),
    c64(4, 3),
)

x, i = f32(5, 7), integers(0, 5, 3)
INDEXING = {
    "int": lambda x, i: x[2],
    "negative": lambda x, i: x[-1, -2],
    "slices": lambda x, i: x[1:4, ::-2],
    "ellipsis": lambda x, i: x[..., None, 3],
    "array": lambda x, i: x[i],
    "array-slice": lambda x, i: x[i, 1:3],
    "slice-array": lambda x, i: x[1:3, i],
    "two-arrays": lambda x, i: x[i, i],
    "outer": lambda x, i: x[i[:, None], i[None, :]],
    "separated": lambda x, i: x[i, None, i],
    "dynamic": lambda x, i: x[i[0], i[1]],
    "static-mask": lambda x, i: x[np.arange(5) % 2 == 0],
    "set": lambda x, i: x.at[i].set(0.0),
    "add": lambda x, i: x.at[i, 2].add(1.0),
    "subtract": lambda x, i: x.at[:, i].subtract(1.0),
    "multiply": lambda x, i: x.at[1:3, ::2].multiply(3.0),
    "divide": lambda x, i: x.at[i].divide(2.0),
    "power": lambda x, i: x.at[i].power(2.0),
    "min": lambda x, i: x.at[i].min(0.3),
    "max": lambda x, i: x.at[i].max(0.3),
    "apply": lambda x, i: x.at[2].apply(jnp.exp),
    "get-fill": lambda x, i: x.at[i + 3].get(mode="fill", fill_value=np.nan),
    "get-clip": lambda x, i: x.at[i + 3].get(mode="clip"),
    "set-drop": lambda x, i: x.at[i + 3].set(1.0, mode="drop"),
    "set-flags": lambda x, i: x.at[:3].set(1.0, indices_are_sorted=True, unique_indices=True),
    "set-dynamic": lambda x, i: x.at[i[0]].set(2.0),
    "empty": lambda x, i: x[jnp.zeros((0,), "int32")],
}
for name, function in INDEXING.items():
    theme.add(f"index-{name}", function, x, i)

theme.add("index-grad", jax.grad(lambda x, i: (x[i, 2:5] ** 2).sum()), x, i)
theme.add("scatter-grad", jax.grad(lambda x, i: (x.at[i].set(2.0) ** 2).sum()), x, i)
theme.add(
    "scatter_mul-grad",
    jax.grad(lambda x, i: (x.at[i].multiply(2.0, unique_indices=True) ** 2).sum()),
    x,
    np.int32([0, 2, 4]),
)
theme.add("index-vmap", jax.vmap(lambda x, i: x[i]), x, integers(0, 7, 5))
theme.add(
    "index-vmap-vmap",
    jax.vmap(jax.vmap(lambda x, i: x[i], (0, None)), (None, 0)),
    x,
    integers(0, 7, 3, 2),
)
theme.add("scatter-vmap", jax.vmap(lambda x, i: x.at[i].add(1.0)), x, integers(0, 7, 5))
theme.add(
    "dynamic_slice-vmap",
    jax.vmap(lambda x, s: lax.dynamic_slice(x, (s,), (3,))),
    x,
    integers(0, 7, 5),
)
theme.add(
    "dynamic_update_slice-vmap",
    jax.vmap(lambda x, s: lax.dynamic_update_slice(x, x[:2], (s,))),
    x,
    integers(0, 7, 5),
)
theme.add("index-i4", lambda x, i: x[i], i4(5, 3), i, runnable=False)
theme.add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), f32(11, 2), integers(0, 4, 11))
theme.add("segment_prod", lambda x, i: jax.ops.segment_prod(x, i, 4), f32(11), integers(0, 4, 11))
theme.add("segment_max", lambda x, i: jax.ops.segment_max(x, i, 4), f32(11), integers(0, 4, 11))
theme.add(
    "segment_min",
    lambda x, i: jax.ops.segment_min(x, i, 4, indices_are_sorted=True),
    f32(11),
    np.sort(integers(0, 4, 11)),
)
