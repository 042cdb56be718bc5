"""XLA's options for one compilation."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

# XLA:CPU hands products and convolutions to a library, and with this one by one: where it hands
# over what is around them too, the library takes scratch of its own, and sums over few elements are
# several times slower than XLA's own, as the chunks of a loop have them.
_PRODUCTS_ALONE = (
    "xla_cpu_experimental_ynn_fusion_type",
    "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION",
)


@contextlib.contextmanager
def overriding(options: Any, name: str, value: str) -> Iterator[None]:
    """Compilations with `options` have this one too."""
    before = list(options.env_option_overrides)
    options.env_option_overrides = [*before, (name, value)]
    try:
        yield
    finally:
        options.env_option_overrides = before


def compile_pieces(compile_program: Callable[[], Any], options: Any, platform: str) -> Any:
    """Compiles a program that was cut, with what suits such programs."""
    name, value = _PRODUCTS_ALONE
    is_chosen = name in os.environ.get("XLA_FLAGS", "") or any(
        name == one for one, _ in options.env_option_overrides
    )
    if platform != "cpu" or is_chosen:
        return compile_program()
    try:
        with overriding(options, name, value):
            return compile_program()
    except Exception:
        # Another XLA may not know the option; if it is the program's fault, the error comes again.
        return compile_program()
