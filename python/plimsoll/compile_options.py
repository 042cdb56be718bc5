"""XLA's options for one compilation."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

# XLA:CPU hands products and convolutions to a library, and with this one by one: where it hands
# over what is around them too, the library takes scratch of its own, and sums over few elements are
# several times slower than XLA's own, as the chunks of a loop have them.
_LIBRARY = "xla_cpu_experimental_ynn_fusion_type"
_PRODUCTS_ALONE = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
# With what is summed, too: XLA's own sums over many elements want it whole.
_SUMS = "LIBRARY_FUSION_TYPE_REDUCE"
# A loop without calls of a library whose turns touch less than this many bytes is compiled as one
# function, for one core.
_SMALL_LOOPS = "xla_cpu_small_while_loop_byte_threshold"
_SMALL_LOOP_BYTES = 256 << 10
# Where XLA's protocol buffers have the options of a backend: fields of CompileOptionsProto,
# ExecutableBuildOptionsProto and DebugOptions.
_BACKEND_OPTIONS = (3, 3, 500)


@contextlib.contextmanager
def overriding(options: Any, name: str, value: str) -> Iterator[None]:
    """Compilations with `options` have this one too."""
    before = list(options.env_option_overrides)
    options.env_option_overrides = [*before, (name, value)]
    try:
        yield
    finally:
        options.env_option_overrides = before


def compile_pieces(
    compile_with: Callable[[Any], Any],
    options: Any,
    platform: str,
    *,
    has_library_sums: bool = False,
) -> Any:
    """Compiles a program that was cut, with what suits such programs."""
    if platform != "cpu":
        return compile_with(options)
    try:
        return compile_with(_of_pieces(options, has_library_sums))
    except Exception:
        # Another XLA may not know an option; if it is the program's fault, the error comes again.
        return compile_with(options)


def _of_pieces(options: Any, has_library_sums: bool) -> Any:
    """A copy of the options, with those that the user has not chosen."""
    flags = os.environ.get("XLA_FLAGS", "")
    # Options that nobody asked for are not in the serialized ones, and the others lack defaults.
    _ = options.executable_build_options.debug_options
    serialized = options.SerializeAsString()
    if _SMALL_LOOPS not in flags:
        entry = _field(1, _SMALL_LOOPS.encode()) + _field(2, str(_SMALL_LOOP_BYTES).encode())
        serialized += functools.reduce(lambda m, n: _field(n, m), _BACKEND_OPTIONS[::-1], entry)
    changed = type(options).ParseFromString(serialized)
    is_chosen = any(name == _LIBRARY for name, _ in options.env_option_overrides)
    if _LIBRARY not in flags and not is_chosen:
        value = f"{_PRODUCTS_ALONE},{_SUMS}" if has_library_sums else _PRODUCTS_ALONE
        changed.env_option_overrides = [*options.env_option_overrides, (_LIBRARY, value)]
    return changed


def _field(number: int, message: bytes) -> bytes:
    """A field of a protocol buffer that has a length."""
    return _varint(number << 3 | 2) + _varint(len(message)) + message


def _varint(number: int) -> bytes:
    groups = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])
