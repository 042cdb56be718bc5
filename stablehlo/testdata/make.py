"""Makes the bytecode files of this folder with jaxlib. Run it only to add a file.

python stablehlo/testdata/make.py
"""

import io
import pathlib

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

FOLDER = pathlib.Path(__file__).parent
VERSIONS = ("0.9.0", "1.0.0", "1.9.0", "1.22.0")


def parse(text: str) -> ir.Module:
    context = mlir.JaxIrContext()
    context.append_dialect_registry(mlir.upstream_dialects)
    context.load_all_available_dialects()
    for dialect in (chlo, sdy, stablehlo):
        dialect.register_dialect(context)
    with context:
        return ir.Module.parse(text)


def main() -> None:
    plain = (FOLDER / "program.mlir").read_text()
    mixed = (FOLDER / "mixed.mlir").read_text()
    for version in VERSIONS:
        artifact = stablehlo.serialize_portable_artifact(parse(plain), version)
        (FOLDER / f"program-{version}.artifact").write_bytes(artifact)
    for name, text in {"program": plain, "mixed": mixed}.items():
        out = io.BytesIO()
        parse(text).operation.write_bytecode(out)
        (FOLDER / f"{name}.mlirbc").write_bytes(out.getvalue())
    artifact = stablehlo.serialize_portable_artifact(parse(mixed), "1.22.0", True)
    (FOLDER / "mixed-1.22.0.artifact").write_bytes(artifact)


if __name__ == "__main__":
    main()
