"""Pallas kernels: loops in interpret mode, custom calls with large payloads on TPU and GPU."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plgpu

from corpus.program import Theme, f32, i32

theme = Theme("pallas", runnable=False)


def add_kernel(x, y, out):
    out[...] = x[...] + y[...]


def scale_kernel(x, out):
    out[...] = x[...] * 2 + pl.program_id(0)


def matmul_kernel(x, y, out):
    @pl.when(pl.program_id(2) == 0)
    def _():
        out[...] = jnp.zeros_like(out)

    out[...] += jnp.dot(x[...], y[...], preferred_element_type=jnp.float32)


def softmax_kernel(x, out):
    row = x[...]
    exponents = jnp.exp(row - row.max(axis=-1, keepdims=True))
    out[...] = exponents / exponents.sum(axis=-1, keepdims=True)


def loop_kernel(x, out):
    out[...] = jax.lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) + i, x[...])


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def matmul(x, y, block, **options):
    (m, k), n = x.shape, y.shape[1]
    bm, bn, bk = block
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // bm, n // bn, k // bk),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)),
            pl.BlockSpec((bk, bn), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        **options,
    )(x, y)


def rows(kernel, block, **options):
    """The kernel over blocks of rows."""

    def call(x):
        specification = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
        return pl.pallas_call(
            kernel,
            grid=(x.shape[0] // block,),
            in_specs=[specification],
            out_specs=specification,
            out_shape=like(x),
            **options,
        )(x)

    return call


INTERPRET = dict(interpret=True)
theme.add(
    "interpret-add",
    lambda x, y: pl.pallas_call(add_kernel, out_shape=like(x), **INTERPRET)(x, y),
    f32(8, 128),
    f32(8, 128),
    runnable=True,
)
theme.add("interpret-grid", rows(scale_kernel, 8, **INTERPRET), f32(32, 128), runnable=True)
theme.add("interpret-softmax", rows(softmax_kernel, 8, **INTERPRET), f32(16, 128), runnable=True)
theme.add("interpret-loop", rows(loop_kernel, 8, **INTERPRET), f32(16, 128), runnable=True)
theme.add(
    "interpret-matmul",
    lambda x, y: matmul(x, y, (8, 8, 8), **INTERPRET),
    f32(16, 16),
    f32(16, 16),
    runnable=True,
)
theme.add(
    "interpret-vmap", jax.vmap(rows(scale_kernel, 8, **INTERPRET)), f32(3, 16, 128), runnable=True
)
theme.add(
    "interpret-alias",
    lambda x: pl.pallas_call(
        scale_kernel, grid=(1,), out_shape=like(x), input_output_aliases={0: 0}, **INTERPRET
    )(x),
    f32(8, 128),
    runnable=True,
)
theme.add(
    "interpret-tpu",
    lambda x: pl.pallas_call(
        scale_kernel, grid=(1,), out_shape=like(x), interpret=pltpu.InterpretParams()
    )(x),
    f32(8, 128),
)

ON_TPU = dict(platforms=("tpu",))
theme.add(
    "tpu-add",
    lambda x, y: pl.pallas_call(add_kernel, out_shape=like(x))(x, y),
    f32(8, 128),
    f32(8, 128),
    **ON_TPU,
)
theme.add("tpu-grid", rows(scale_kernel, 8), f32(32, 128), **ON_TPU)
theme.add("tpu-softmax", rows(softmax_kernel, 8), f32(16, 128), **ON_TPU)
theme.add("tpu-loop", rows(loop_kernel, 8), f32(16, 128), **ON_TPU)
theme.add("tpu-integers", rows(scale_kernel, 8), i32(16, 128), **ON_TPU)
theme.add(
    "tpu-matmul", lambda x, y: matmul(x, y, (128, 128, 128)), f32(256, 256), f32(256, 256), **ON_TPU
)
theme.add(
    "tpu-parameters",
    functools.partial(
        matmul,
        block=(128, 128, 128),
        name='kernel "é"',
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary"), vmem_limit_bytes=1 << 20
        ),
        cost_estimate=pl.CostEstimate(flops=7, bytes_accessed=9, transcendentals=3),
    ),
    f32(256, 128),
    f32(128, 256),
    **ON_TPU,
)
theme.add(
    "tpu-grad-of-loop",
    lambda x: jax.lax.scan(lambda c, _: (rows(scale_kernel, 8)(c), None), x, length=3)[0],
    f32(16, 128),
    **ON_TPU,
)
theme.add("tpu-exported", rows(scale_kernel, 8), f32(16, 128), export=True, **ON_TPU)


def scratch_kernel(x, out, accumulator, semaphore):
    accumulator[...] = x[...] * 3
    pltpu.async_copy(accumulator, out, semaphore).wait()


theme.add(
    "tpu-scratch",
    lambda x: pl.pallas_call(
        scratch_kernel,
        out_shape=like(x),
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
    )(x),
    f32(8, 128),
    **ON_TPU,
)

TRITON = dict(compiler_params=plgpu.CompilerParams(num_warps=2, num_stages=1))


@contextlib.contextmanager
def gpu_at_hand() -> Iterator[None]:
    """Newer versions of JAX want to know which GPU a kernel is for."""
    device = jax.sharding.AbstractDevice("NVIDIA H100 80GB HBM3", 132, "gpu")
    mesh = jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)
    with jax.sharding.use_abstract_mesh(mesh):
        yield


ON_GPU = dict(platforms=("cuda",), context=gpu_at_hand)
theme.add(
    "cuda-add",
    lambda x, y: pl.pallas_call(add_kernel, out_shape=like(x), **TRITON)(x, y),
    f32(8, 128),
    f32(8, 128),
    **ON_GPU,
)
theme.add("cuda-grid", rows(scale_kernel, 8, **TRITON), f32(32, 128), **ON_GPU)
theme.add("cuda-softmax", rows(softmax_kernel, 8, **TRITON), f32(16, 128), **ON_GPU)
theme.add("cuda-loop", rows(loop_kernel, 8, **TRITON), f32(16, 128), **ON_GPU)
theme.add(
    "cuda-matmul",
    lambda x, y: matmul(x, y, (32, 32, 32), **TRITON),
    f32(64, 64),
    f32(64, 64),
    **ON_GPU,
)
