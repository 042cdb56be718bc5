"""XLA's options for one compilation."""

import contextlib
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
    compile_program: Callable[[], Any],
    options: Any,
    platform: str,
    *,
    has_library_sums: bool = False,
) -> Any:
    """Compiles a program that was cut, with what suits such programs."""
    is_chosen = _LIBRARY in os.environ.get("XLA_FLAGS", "") or any(
        name == _LIBRARY for name, _ in options.env_option_overrides
    )
    value = f"{_PRODUCTS_ALONE},{_SUMS}" if has_library_sums else _PRODUCTS_ALONE
    if platform != "cpu" or is_chosen:
        return compile_program()
    try:
        with overriding(options, _LIBRARY, value):
            return compile_program()
    except Exception:
        # Another XLA may not know the option; if it is the program's fault, the error comes again.
        return compile_program()
