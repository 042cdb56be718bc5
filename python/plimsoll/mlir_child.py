"""Turns any MLIR text or bytecode into generic text, with the MLIR that jaxlib ships.

This file is run as a program of its own (see convert.py): MLIR's parsers may end the process on
hostile input, and then it is only this one that ends. The program comes on standard input, the
generic text goes to standard output.
"""

import sys

# What the parent can tell apart: the program was refused; there is no jaxlib to read it with.
REFUSED = 3
NO_JAXLIB = 4


def convert(program: bytes) -> str:
    """Returns `program` as generic text with locations. MLIR's errors are raised as they come."""
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    with ir.Context() as context:
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        sdy.register_dialect(context)
        mhlo.register_mhlo_dialect(context)
        # Python cannot register the dialect of quantized types; the reader of artifacts does.
        empty = ir.Module.parse("module {}")
        artifact = stablehlo.serialize_portable_artifact(empty, stablehlo.get_current_version())
        stablehlo.deserialize_portable_artifact(context, artifact)
        context.allow_unregistered_dialects = True
        return ir.Module.parse(program).operation.get_asm(
            enable_debug_info=True, print_generic_op_form=True
        )


def main() -> int:
    program = sys.stdin.buffer.read()
    try:
        text = convert(program)
    except ImportError as error:
        print(error, file=sys.stderr)
        return NO_JAXLIB
    except Exception as error:
        print(error, file=sys.stderr)
        return REFUSED
    sys.stdout.buffer.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
