"""A program taken through the graph and back: PLIMSOLL_FORCE_ROUNDTRIP=1, for tests.

XLA then compiles the text that Plimsoll writes, although nothing was changed, so whatever reading
and writing loses shows.
"""

import io
import os
from typing import Any

from plimsoll import ir
from plimsoll.errors import PlimsollError
from plimsoll.log import logger


def is_forced() -> bool:
    return os.environ.get("PLIMSOLL_FORCE_ROUNDTRIP") == "1"


def key() -> str:
    """What of it belongs into the persistent cache's key."""
    return "roundtrip" if is_forced() else ""


def rewrite(module: Any) -> Any:
    """The module of jaxlib's MLIR, read by the core and parsed again from the text it writes."""
    try:
        text = graph_of(module).text_bytes()
    except PlimsollError as error:
        logger.debug("%s; it goes to XLA as it is", error)
        return module
    return parse(text, module)


def parse(text: bytes, module: Any) -> Any:
    """The program `text` as a module of jaxlib's MLIR, in the context of `module`."""
    from jax._src.lib.mlir import ir as mlir

    with module.context:
        return mlir.Module.parse(text)


def graph_of(module: Any) -> ir.Module:
    """The graph of a module of jaxlib's MLIR."""
    # Not `ir.parse`, which starts another process for what the core does not know.
    return ir.Module(bytecode_of(module), "the program")


def bytecode_of(module: Any) -> bytes:
    """A module of jaxlib's MLIR as the core reads it."""
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return file.getvalue()
