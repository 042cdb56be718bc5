"""Reductions, windows, cumulative functions, sorting and the largest k."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corpus.program import Theme, bf16, boolean, c64, f16, f32, f64, i8, i32, i64, u8, u32

theme = Theme("lax_reductions")

for name in "sum prod max min".split():
    function = getattr(lax, f"reduce_{name}")
    kinds = (f32, f16, bf16, i32, i8, u8) + ((c64,) if name in ("sum", "prod") else ())
    theme.add_over(
        f"reduce_{name}",
        lambda x, f=function: (f(x, (1,)), f(x, (0, 2)), f(x, (0, 1, 2)), f(x, ())),
        *[(kind(2, 3, 5),) for kind in kinds],
    )
    theme.add(f"reduce_{name}-f64", lambda x, f=function: f(x, (0,)), f64(7, 2), x64=True)
    theme.add(f"reduce_{name}-one", lambda x, f=function: f(x, (0,)), f32(1, 3))
theme.add("reduce_sum-empty", lambda x: lax.reduce_sum(x, (0,)), f32(0, 3))
for name in "and or xor".split():
    function = getattr(lax, f"reduce_{name}")
    theme.add_over(
        f"reduce_{name}",
        lambda x, f=function: f(x, (1,)),
        *[(kind(3, 5),) for kind in (boolean, i32, u8)],
    )
theme.add_over("argmax", lambda x: lax.argmax(x, 1, "int32"), (f32(3, 5),), (i32(3, 5),))
theme.add_over("argmin", lambda x: lax.argmin(x, 0, "uint8"), (f32(3, 5),), (u8(3, 5),))
theme.add("argmax-i64", lambda x: lax.argmax(x, 0, np.int64), f64(7), x64=True)


@theme.program(f32(3, 5), i32(3, 5))
def reduce_two_operands(values, indices):
    """A reduction of pairs with a body of several ops."""

    def later_maximum(a, b):
        keep = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(keep, a[0], b[0]), jnp.where(keep, a[1], b[1])

    start = (np.float32(-np.inf), np.int32(0))
    return lax.reduce((values, indices), start, later_maximum, (1,))


theme.add(
    "reduce-monoid", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b, (0,)), f32(3, 5)
)
theme.add(
    "reduce-mixed",
    lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + jnp.sin(b), (1,)),
    f32(3, 2),
)

WINDOWS = {
    "valid": dict(window_dimensions=(2, 3), window_strides=(1, 2), padding="VALID"),
    "same": dict(window_dimensions=(3, 3), window_strides=(2, 1), padding="SAME"),
    "explicit": dict(window_dimensions=(2, 2), window_strides=(1, 1), padding=((1, 0), (2, 1))),
    "dilated": dict(
        window_dimensions=(2, 2),
        window_strides=(1, 1),
        padding="VALID",
        base_dilation=(2, 1),
        window_dilation=(1, 3),
    ),
}
REDUCERS = {
    "add": (lax.add, 0.0),
    "max": (lax.max, -np.inf),
    "min": (lax.min, np.inf),
    "mul": (lax.mul, 1.0),
}
for window, options in WINDOWS.items():
    for reducer, (function, start) in REDUCERS.items():
        theme.add(
            f"reduce_window-{reducer}-{window}",
            lambda x, f=function, s=start, o=options: lax.reduce_window(x, np.float32(s), f, **o),
            f32(5, 7),
        )
theme.add_over(
    "reduce_window-dtypes",
    lambda x: lax.reduce_window(x, x.dtype.type(0), lax.add, (3,), (1,), "SAME"),
    (i32(7),),
    (bf16(7),),
    (c64(5),),
)
theme.add(
    "reduce_window-two-operands",
    lambda x, y: lax.reduce_window(
        (x, y),
        (np.float32(0), np.int32(0)),
        lambda a, b: (a[0] + b[0], a[1] * b[1]),
        (2,),
        (1,),
        "VALID",
    ),
    f32(7),
    i32(7),
)


def pool(function, start, padding):
    return lambda x: lax.reduce_window(
        x, np.float32(start), function, (1, 2, 2, 1), (1, 2, 2, 1), padding
    ).sum()


IMAGE = f32(2, 7, 5, 3)
theme.add("max_pool-grad", jax.grad(pool(lax.max, -np.inf, "SAME")), IMAGE)
theme.add("min_pool-grad", jax.grad(pool(lax.min, np.inf, "VALID")), IMAGE)
theme.add("sum_pool-grad", jax.grad(pool(lax.add, 0.0, "SAME")), IMAGE)
theme.add("max_pool-jvp", lambda x: jax.jvp(pool(lax.max, -np.inf, "VALID"), (x,), (x,)), IMAGE)
theme.add("max_pool-hessian", jax.hessian(pool(lax.max, -np.inf, "VALID")), f32(1, 2, 3, 1))

for name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    function = getattr(lax, name)
    kinds = (f32, bf16) + (() if name == "cumlogsumexp" else (i32, u8))
    theme.add_over(
        name,
        lambda x, f=function: (f(x, 0), f(x, 1, reverse=True)),
        *[(kind(3, 7),) for kind in kinds],
    )
    theme.add(f"{name}-grad", jax.grad(lambda x, f=function: f(x, 0).sum()), f32(5))
    theme.add(f"{name}-one", lambda x, f=function: f(x, 0), f32(1))
theme.add(
    "cumsum-cuda",
    lambda x: lax.cumsum(x, 0),
    i32(8, 9),
    platforms=("cuda",),
    runnable=False,
)
theme.add("cumsum-complex", lambda x: lax.cumsum(x, 0), c64(7))
theme.add("cumsum-i64", lambda x: lax.cumsum(x, 0), i64(7), x64=True)

theme.add_over(
    "sort",
    lambda x: (lax.sort(x), lax.sort(x, 0)),
    *[(kind(3, 5),) for kind in (f32, bf16, f16, i32, u8, boolean, c64)],
)
theme.add("sort-unstable", lambda x: lax.sort(x, is_stable=False), f32(3, 7))
theme.add("sort-many", lambda x, y, z: lax.sort((x, y, z), num_keys=2), i32(11), f32(11), u32(11))
theme.add(
    "sort-three-keys", lambda x, y, z: lax.sort((x, y, z), num_keys=3), i32(7), f32(7), boolean(7)
)
theme.add("sort-empty", lax.sort, f32(0))
theme.add("sort-one", lax.sort, f32(1))
theme.add("sort-f64", lax.sort, f64(7), x64=True)
theme.add("sort-grad", jax.grad(lambda x: (lax.sort(x)[:3] ** 2).sum()), f32(7))
theme.add("sort_key_val", lax.sort_key_val, f32(7), i32(7))
theme.add("sort-vmap", jax.vmap(lambda k, v: lax.sort((k, v))), f32(3, 5), i32(3, 5))
for kind in (f32, bf16, i32, u8):
    theme.add(f"top_k-{kind(1).dtype}", lambda x: lax.top_k(x, 3), kind(2, 11))
theme.add("top_k-axis", lambda x: lax.top_k(x, 1, axis=0), f32(7, 2))
theme.add("top_k-zero", lambda x: lax.top_k(x, 0), f32(7))
theme.add("top_k-grad", jax.grad(lambda x: lax.top_k(x, 2)[0].sum()), f32(7))
# approx_top_k is a custom call that only XLA's own passes take apart.
theme.add("approx_max_k", lambda x: lax.approx_max_k(x, 3), f32(5, 64), runnable=False)
theme.add(
    "approx_min_k",
    lambda x: lax.approx_min_k(
        x,
        3,
        reduction_dimension=0,
        recall_target=0.5,
        reduction_input_size_override=1024,
        aggregate_to_topk=False,
    ),
    f32(64, 2),
    runnable=False,
)
theme.add(
    "approx_max_k-tpu",
    lambda x: lax.approx_max_k(x, 3),
    f32(5, 64),
    runnable=False,
    platforms=("tpu",),
)
