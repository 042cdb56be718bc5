"""What the process already holds on a device when a program is compiled."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from plimsoll.device_memory import allocator_statistics

# The function of JAX that compiles a program for a call and then runs it with its `args`.
_CALLER = "_pjit_call_impl_python"


def bytes_in_use(device: Any) -> int:
    """What is in use on `device`: by its allocator's account, else all arrays that are alive."""
    statistics = allocator_statistics(device)
    if statistics and "bytes_in_use" in statistics:
        return statistics["bytes_in_use"]
    return _shard_bytes_of(live_arrays(device))


def live_arrays(device: Any) -> list[Any]:
    """The arrays of this process that hold memory of `device`."""
    return [
        array
        for array in device.client.live_arrays()
        if not array.is_deleted() and device in array.sharding.device_set
    ]


def bytes_of_arguments(device: Any, argument_types: Sequence[tuple[tuple[int, ...], str]]) -> int:
    """What the arguments of the program that is being compiled hold already on `device`.

    If a call made JAX compile it, these are the call's own. A program that is compiled ahead of
    its call takes those of the live arrays that have the types of its arguments.
    """
    arguments = _arguments_of_call()
    arrays = live_arrays(device)
    if arguments is not None:
        alive = {id(array) for array in arrays}
        return _shard_bytes_of([array for array in arguments if id(array) in alive])
    wanted = Counter(argument_types)
    matching = []
    for array in arrays:
        kind = (tuple(array.shape), str(array.dtype))
        if wanted[kind] > 0:
            wanted[kind] -= 1
            matching.append(array)
    return _shard_bytes_of(matching)


def _arguments_of_call() -> list[Any] | None:
    import jax

    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _CALLER:
            arguments = frame.f_locals.get("args")
            if isinstance(arguments, tuple):
                return [value for value in arguments if isinstance(value, jax.Array)]
            return None
        frame = frame.f_back
    return None


def _shard_bytes_of(arrays: Iterable[Any]) -> int:
    """The bytes of all these arrays on one device, each buffer once."""
    total = 0
    seen = set()
    for array in arrays:
        # Several arrays can stand for one buffer.
        place = _address(array)
        if place in seen:
            continue
        if place is not None:
            seen.add(place)
        total += _shard_bytes(array)
    return total


def _address(array: Any) -> int | None:
    """Where the array's buffer is; None for one that has several, or cannot tell."""
    if len(array.sharding.device_set) > 1:
        return id(array)
    try:
        return array.unsafe_buffer_pointer()
    except Exception:
        # Arrays of keys and of experimental devices have none, and say so in several ways.
        return None


def _shard_bytes(array: Any) -> int:
    """The bytes of one array on each device that has a part of it."""
    if len(array.sharding.device_set) == 1:
        return array.nbytes
    count = 1
    for size in array.sharding.shard_shape(array.shape):
        count *= size
    return count * array.dtype.itemsize
