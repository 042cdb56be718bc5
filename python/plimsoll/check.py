"""The check of what a compiled program needs against the limit in force."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll import device_memory, live
from plimsoll.limits import Allowance, Limit, allowance_on

# Shape and type of each argument, as JAX's arrays have them. Asked for only when it is close.
ArgumentTypes = Callable[[], Sequence[tuple[tuple[int, ...], str]]]


@dataclass(frozen=True)
class Verdict:
    """What the check found."""

    fits: bool
    need: int
    """What the program needs, on the device or devices that `allowance` is for."""
    held: int | None
    """What the process holds there besides the program's arguments; None if it fits without
    looking."""
    allowance: Allowance | None
    """What is allowed; None if nothing is known to stop at."""
    place: str
    """Where the need is: a device, or the host for all of its CPU devices."""


def check(
    need: int, devices: Sequence[Any], limit: Limit | None, argument_types: ArgumentTypes
) -> Verdict:
    """Compares the bytes that a program needs on each of `devices` with `limit`."""
    if not devices:
        # Compiled for devices of another machine: what is held there is not known.
        allowance = allowance_on(limit, None)
        fits = allowance is None or need <= allowance.bytes
        return Verdict(fits, need, None, allowance, "each device")
    if devices[0].platform == "cpu" and limit is None:
        return _check_host(need, devices, argument_types)
    verdicts = (_check_device(need, device, limit, argument_types) for device in devices)
    worst = None
    for verdict in verdicts:
        if not verdict.fits:
            return verdict
        worst = worst or verdict
    return worst


def _check_host(need: int, devices: Sequence[Any], argument_types: ArgumentTypes) -> Verdict:
    """Without a limit of their own, all CPU devices share what the host has."""
    total = need * len(devices)
    available = device_memory.host_available()
    if available is None:
        return Verdict(True, total, None, None, "the host")
    if total <= available:
        return Verdict(True, total, None, Allowance(available, None), "the host")
    in_use = sum(live.bytes_in_use(device) for device in devices)
    types = argument_types()
    arguments = sum(live.bytes_of_arguments(device, types) for device in devices)
    allowance = Allowance(available + in_use, None)
    held = in_use - arguments
    return Verdict(total + held <= allowance.bytes, total, held, allowance, "the host")


def _check_device(
    need: int, device: Any, limit: Limit | None, argument_types: ArgumentTypes
) -> Verdict:
    is_host = device.platform == "cpu"
    # Cheap, and at least as much as the arrays: walking over all of them can take milliseconds.
    most_held = device_memory.resident_bytes() if is_host else live.bytes_in_use(device)
    allowance = allowance_of(device, limit)
    if allowance is None or need + most_held <= allowance.bytes:
        return Verdict(True, need, None, allowance, str(device))
    in_use = live.bytes_in_use(device)
    held = max(0, in_use - live.bytes_of_arguments(device, argument_types()))
    fits = need + held <= allowance.bytes
    return Verdict(fits, need, held, allowance, str(device))


def allowance_of(device: Any, limit: Limit | None) -> Allowance | None:
    """What `limit` comes to on `device`; None if nothing is known to stop at."""
    return allowance_on(
        limit, device_memory.device_total(device), device_memory.allocator_limit(device)
    )
