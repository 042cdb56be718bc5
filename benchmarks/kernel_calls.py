"""Kernels in a compiled program."""

# What XLA calls them by.
_CALL = 'custom_call_target="plimsoll_kernel"'


def kernel_calls(text: str) -> int:
    """How often a compiled program, as text, calls a kernel."""
    return text.count(_CALL)
