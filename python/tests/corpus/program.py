"""What a program of the corpus is, how it is lowered, and the small arrays it is given."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jaxlib.mlir import ir

from corpus import forms

JAX_VERSION = tuple(int(part) for part in jax.__version__.split(".")[:3])


@dataclasses.dataclass(frozen=True)
class Program:
    """One function of JAX with its arguments, or one module written by hand as text."""

    name: str
    function: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    runnable: bool = True  # one device, no Python callbacks, the same result at every run
    jit: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # for jax.jit
    x64: bool = False
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # of jax.config
    platforms: tuple[str, ...] = ()  # the CPU where none is named
    export: bool = False  # lowered by jax.export, as symbolic shapes need
    text: str = ""
    portable: bool = True  # false where StableHLO cannot write it as an artifact
    beyond: bool = False  # no front end makes it: plimsoll may say that it is not understood
    min_jax: tuple[int, ...] = (0, 10)
    context: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext

    def __str__(self) -> str:
        return self.name


class Theme:
    """The programs of one file, under one name."""

    def __init__(self, name: str, **defaults: Any) -> None:
        self.name = name
        self.defaults = defaults
        self.programs: list[Program] = []

    def add(self, name: str, function: Callable[..., Any], *args: Any, **options: Any) -> None:
        options = self.defaults | options
        self.programs.append(Program(f"{self.name}/{name}", function, args, **options))

    def add_over(
        self, name: str, function: Callable[..., Any], *groups: tuple[Any, ...], **options: Any
    ) -> None:
        """One program that applies the function to each group of arguments, say one per dtype."""

        def over_groups(*groups):
            return [function(*group) for group in groups]

        self.add(name, over_groups, *groups, **options)

    def program(self, *args: Any, **options: Any) -> Callable[[Callable], Callable]:
        """For functions that are worth a `def`: the program takes the function's name."""

        def keep(function: Callable) -> Callable:
            self.add(function.__name__, function, *args, **options)
            return function

        return keep

    def add_text(self, name: str, text: str, **options: Any) -> None:
        options = {"runnable": False} | self.defaults | options
        self.programs.append(Program(f"{self.name}/{name}", text=text, **options))


@contextlib.contextmanager
def configured(program: Program) -> Iterator[None]:
    """JAX's configuration as the program asks for it."""
    values = dict(program.config, jax_enable_x64=program.x64)
    before = {name: getattr(jax.config, name) for name in values}
    try:
        for name, value in values.items():
            jax.config.update(name, value)
        with program.context():
            yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def staged(program: Program, **jit: Any) -> Any:
    """The function as something with `trace` and `lower`; pmap and jit are that already."""
    if hasattr(program.function, "lower"):
        return program.function
    return jax.jit(program.function, **(dict(program.jit) | jit))


def lower(program: Program, **jit: Any) -> ir.Module:
    """The program's StableHLO module; extra keyword arguments go to jax.jit."""
    if program.text:
        return forms.parse(program.text)
    with configured(program):
        function = staged(program, **jit)
        if program.export:
            export = jax.export.export(function, platforms=program.platforms or None)
            return forms.parse(bytes(export(*program.args).mlir_module_serialized))
        if program.platforms:
            lowered = function.trace(*program.args).lower(lowering_platforms=program.platforms)
        else:
            lowered = function.lower(*program.args)
        return lowered.compiler_ir("stablehlo")


def array(dtype: Any, *shape: int) -> np.ndarray:
    """Always the same values for a dtype and shape, inside the domain of most functions."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng([*shape, len(shape)])
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        values = random.uniform(0.1, 0.9, shape) + 1j * random.uniform(0.1, 0.9, shape)
        return np.asarray(values).astype(dtype)
    if is_integer(dtype):
        top = 2 if bits(dtype) <= 2 else 7
        return np.asarray(random.integers(0 if bits(dtype) <= 2 else 1, top, shape)).astype(dtype)
    return np.asarray(random.uniform(0.1, 0.9, shape)).astype(dtype)


def is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" or dtype.name in ("int1", "uint1", "int2", "uint2", "int4", "uint4")


def bits(dtype: np.dtype) -> int:
    name = dtype.name.removeprefix("u").removeprefix("int")
    return int(name) if name.isdigit() else dtype.itemsize * 8


def spec(dtype: Any, *shape: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> np.ndarray:
    """Indices and the like, from low up to but not high."""
    return np.random.default_rng([*shape, low + 99, high]).integers(low, high, shape).astype(dtype)


def positive_definite(dtype: Any, *shape: int) -> np.ndarray:
    square = array(dtype, *shape)
    product = square @ np.conj(np.swapaxes(square, -1, -2))
    return product + shape[-1] * np.eye(shape[-1], dtype=product.dtype)


boolean = functools.partial(array, np.bool_)
i4 = functools.partial(array, ml_dtypes.int4)
u4 = functools.partial(array, ml_dtypes.uint4)
i8 = functools.partial(array, np.int8)
i16 = functools.partial(array, np.int16)
i32 = functools.partial(array, np.int32)
i64 = functools.partial(array, np.int64)
u8 = functools.partial(array, np.uint8)
u16 = functools.partial(array, np.uint16)
u32 = functools.partial(array, np.uint32)
u64 = functools.partial(array, np.uint64)
bf16 = functools.partial(array, ml_dtypes.bfloat16)
f16 = functools.partial(array, np.float16)
f32 = functools.partial(array, np.float32)
f64 = functools.partial(array, np.float64)
c64 = functools.partial(array, np.complex64)
c128 = functools.partial(array, np.complex128)
