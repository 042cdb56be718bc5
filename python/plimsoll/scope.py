"""Limits for a part of a program: `memory_limit`, `set_memory_limit` and `jit`.

JAX keeps compiled functions by a context of ours, so a changed limit compiles anew and a returned
one finds what was compiled under it.
"""

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

from plimsoll import allocator, hook
from plimsoll.limits import Limit, parse_limit, warn_if_wider


class memory_limit(contextlib.ContextDecorator):
    """Limits what programs compiled inside need: a context manager, and a decorator.

    with plimsoll.memory_limit("2GiB"):
        step(params, batch)

    It holds for the thread that enters it. `limit` is a number of bytes or text such as "2GiB" or
    "75%"; None leaves the limit as it is.
    """

    def __init__(self, limit: str | int | float | None):
        self._limit = None if limit is None else parse_limit(limit, "plimsoll.memory_limit")
        self._entered = threading.local()

    def __enter__(self) -> "memory_limit":
        stack = contextlib.ExitStack()
        if self._limit is not None:
            stack.enter_context(entered(self._limit))
        # The same object may be entered again before it is left, by this thread or another.
        if not hasattr(self._entered, "stacks"):
            self._entered.stacks = []
        self._entered.stacks.append(stack)
        return self

    def __exit__(self, *exception: object) -> None:
        self._entered.stacks.pop().close()


def entered(limit: Limit) -> contextlib.AbstractContextManager:
    """The context in which `limit` is in force for this thread."""
    context = hook.limit_context()
    if context is None:
        return contextlib.nullcontext()
    warn_if_wider(limit, hook.limit_in_force())
    return context(limit)


def set_memory_limit(limit: str | int | float | None) -> None:
    """Sets the limit of the whole process. None goes back to the environment's, or the device's."""
    parsed = None if limit is None else parse_limit(limit, "plimsoll.set_memory_limit")
    context = hook.limit_context()
    if context is not None:
        context.set_global(parsed)
        allocator.limit_gpu_allocator(parsed)


def jit(
    function: Callable | None = None,
    *,
    memory_limit: str | int | float | None = None,
    **jit_arguments: Any,
) -> Any:
    """`jax.jit` with a limit of its own, which all other arguments are passed on to.

    Inside another jitted function it is a part of that program, and that one's limit holds.
    """
    limit = None if memory_limit is None else parse_limit(memory_limit, "plimsoll.jit")
    if function is None:
        return functools.partial(_jit, limit=limit, jit_arguments=jit_arguments)
    return _jit(function, limit, jit_arguments)


def _jit(function: Callable, limit: Limit | None, jit_arguments: dict[str, Any]) -> Any:
    import jax

    jitted = jax.jit(function, **jit_arguments)
    return jitted if limit is None else _Limited(jitted, limit)


class _Limited:
    """A jitted function, or a stage on its way to being compiled, under a limit of its own."""

    def __init__(self, wrapped: Any, limit: Limit):
        self._limited = wrapped
        self._limit = limit
        functools.update_wrapper(self, wrapped, updated=())

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        with entered(self._limit):
            return self._limited(*arguments, **keywords)

    def trace(self, *arguments: Any, **keywords: Any) -> "_Limited":
        return self._next_stage(self._limited.trace, arguments, keywords)

    def lower(self, *arguments: Any, **keywords: Any) -> "_Limited":
        return self._next_stage(self._limited.lower, arguments, keywords)

    def compile(self, *arguments: Any, **keywords: Any) -> Any:
        with entered(self._limit):
            return self._limited.compile(*arguments, **keywords)

    def _next_stage(self, step: Callable, arguments: tuple, keywords: dict) -> "_Limited":
        with entered(self._limit):
            return _Limited(step(*arguments, **keywords), self._limit)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # So that a decorated method is bound like a plain one.
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._limited, name)

    def __repr__(self) -> str:
        return f"<{self._limited!r} under {self._limit}>"
