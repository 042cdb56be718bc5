"""Programs that JAX makes, and some that it never would: what plimsoll must read without loss.

    for program in corpus.programs():
        module = corpus.lower(program)

`forms` turns a module into an artifact, bytecode or text, and into the text that is compared.
"""

from __future__ import annotations

import functools
import importlib

import jax

from corpus.forms import (
    artifact,
    canonical,
    generic_text,
    native_bytecode,
    pretty_text,
)
from corpus.program import JAX_VERSION, Program, lower

__all__ = [
    "Program",
    "artifact",
    "canonical",
    "generic_text",
    "lower",
    "native_bytecode",
    "pretty_text",
    "programs",
]

DEVICES = 8
THEMES = (
    "lax_elementwise",
    "lax_shapes",
    "lax_indexing",
    "lax_reductions",
    "lax_linear",
    "numpy_api",
    "scipy_api",
    "nn_and_random",
    "control_flow",
    "transformations",
    "dtypes_and_constants",
    "sharding",
    "effects",
    "models",
    "exports",
    "pallas_kernels",
    "text_ops",
    "text_types",
    "text_attributes",
    "text_locations",
    "text_dialects",
)

# Sharded programs need several devices, and JAX makes them when it is first asked for one.
jax.config.update("jax_num_cpu_devices", DEVICES)


@functools.cache
def programs() -> list[Program]:
    """All programs that the installed JAX can make."""
    themes = [importlib.import_module(f"corpus.{name}").theme for name in THEMES]
    return [p for theme in themes for p in theme.programs if p.min_jax <= JAX_VERSION]
