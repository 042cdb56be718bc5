"""The forms in which one program can be handed over, and the one form in which two are compared.

jaxlib is the judge: `canonical` parses with jaxlib's MLIR and prints generic text with locations.
Three things about jaxlib's own forms that a comparison has to know:

- Writing an artifact changes the module that is written, so a re-parsed copy is written here.
- An artifact holds every attribute that has a default, so that reading it back prints attributes
  which the original did not have, `chlo` ops come back as calls of composites, and so on
  (`test_forms.py` lists and tests these). The reference for an artifact is therefore what jaxlib
  reads from that artifact, never the module which it was made from.
- Native bytecode and generic text lose nothing: their reference is the module itself.
"""

from __future__ import annotations

import io

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

MAGIC = b"ML\xefR"
CURRENT_VERSION: str = stablehlo.get_current_version()
EMPTY_ARTIFACT: bytes = stablehlo.serialize_portable_artifact_str("module {}", CURRENT_VERSION)


def new_context() -> ir.Context:
    """A context with the dialects that JAX itself loads, and room for those it does not know."""
    context = mlir.JaxIrContext()
    context.append_dialect_registry(mlir.upstream_dialects)
    context.load_all_available_dialects()
    sdy.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    chlo.register_dialect(context)
    stablehlo.register_dialect(context)
    # Python cannot register `quant`, without which quantized types are opaque; the reader of
    # artifacts loads it.
    stablehlo.deserialize_portable_artifact(context, EMPTY_ARTIFACT)
    context.allow_unregistered_dialects = True
    return context


def parse(source: str | bytes) -> ir.Module:
    """Reads text, native bytecode or a portable artifact with jaxlib's MLIR."""
    context = new_context()
    if isinstance(source, bytes) and is_artifact(source):
        return stablehlo.deserialize_portable_artifact(context, source)
    with context:
        return ir.Module.parse(source)


def is_artifact(source: bytes) -> bool:
    """Portable artifacts are MLIR bytecode whose producer calls itself StableHLO."""
    return source.startswith(MAGIC) and source[len(MAGIC) + 1 :].startswith(b"StableHLO_v")


def artifact(module: ir.Module, version: str | None = None) -> bytes:
    copy = parse(native_bytecode(module))
    return stablehlo.serialize_portable_artifact(copy, version or CURRENT_VERSION, True)


def native_bytecode(module: ir.Module) -> bytes:
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


def generic_text(module: ir.Module, locations: bool = True) -> str:
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)


def pretty_text(module: ir.Module) -> str:
    return module.operation.get_asm(enable_debug_info=True)


def canonical(source: str | bytes) -> str:
    return generic_text(parse(source))
