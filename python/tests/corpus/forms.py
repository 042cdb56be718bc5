"""The forms in which one program can be handed over, and the one form in which two are compared.

jaxlib is the judge: `canonical` parses with jaxlib's MLIR and prints generic text with locations.
What a comparison has to know about jaxlib's own forms (`test_corpus.py` tests each of these):

- Generic text loses nothing.
- All bytecode loses the end of a location's range in one line if the range begins at column 0.
- Pretty text loses a function's empty `arg_attrs` and `res_attrs`.
- An artifact loses attributes that are written out but have their default value, the type of a
  collective's channel, and a few forms that VHLO does not have. The reference for bytes is
  therefore what jaxlib reads from those bytes, never the module which they were made from.
- Writing an artifact changes the module that is written, so a re-parsed copy is written here.
"""

from __future__ import annotations

import difflib
import io
import itertools

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

MAGIC = b"ML\xefR"
CURRENT_VERSION: str = stablehlo.get_current_version()
EMPTY_ARTIFACT: bytes = stablehlo.serialize_portable_artifact_str("module {}", CURRENT_VERSION)


def new_context(quantized: bool = False) -> ir.Context:
    """A context with the dialects that JAX itself uses, and room for those it does not know.

    Each module gets its own, as two with resources of one name would otherwise disturb each other.
    Dialects are loaded when first met: to load them all takes longer than all the rest.
    """
    context = mlir.JaxIrContext()
    context.append_dialect_registry(mlir.upstream_dialects)
    sdy.register_dialect(context, False)
    mhlo.register_mhlo_dialect(context, False)
    chlo.register_dialect(context, False)
    stablehlo.register_dialect(context, False)
    if quantized:
        # Python cannot register `quant`, without which such types are opaque; the reader of
        # artifacts can.
        stablehlo.deserialize_portable_artifact(context, EMPTY_ARTIFACT)
    context.allow_unregistered_dialects = True
    return context


def parse(source: str | bytes) -> ir.Module:
    """Reads text, native bytecode or a portable artifact with jaxlib's MLIR."""
    if isinstance(source, bytes) and is_artifact(source):
        return stablehlo.deserialize_portable_artifact(new_context(), source)
    quantized = "quant" in source if isinstance(source, str) else b"quant" in source
    with new_context(quantized):
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


def difference(expected: str, found: str, lines: int = 12) -> str:
    """The first lines that differ; nothing where the two texts are equal."""
    if expected == found:
        return ""
    diff = difflib.unified_diff(expected.splitlines(), found.splitlines(), lineterm="", n=0)
    return "\n".join(line[:400] for line in itertools.islice(diff, lines))
