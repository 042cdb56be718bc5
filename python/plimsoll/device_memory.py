"""What a device has, in bytes: in all, and for this process now.

A GPU's allocator says so itself. The CPU has what the control group allows and the machine has
left.
"""

import ctypes
import functools
from pathlib import Path
from typing import Any


def device_total(device: Any) -> int | None:
    """All that `device` of JAX has; None if that is not known."""
    if device.platform == "cpu":
        return host_total()
    return largest_gpu_bytes() if device.platform == "gpu" else allocator_limit(device)


def allocator_limit(device: Any) -> int | None:
    """What the device's allocator may take; None if it says nothing, as on the CPU."""
    return (allocator_statistics(device) or {}).get("bytes_limit")


def allocator_statistics(device: Any) -> dict[str, int] | None:
    """What the device's allocator says of itself; None if it says nothing, as on the CPU."""
    try:
        return device.memory_stats()
    except Exception:
        # Devices that cannot be asked raise errors of several kinds.
        return None


@functools.cache
def host_total() -> int | None:
    """What the machine has, or what the control group allows if that is less."""
    return _smaller(_meminfo().get("MemTotal"), _group_limit()[0])


def host_available() -> int | None:
    """What the machine has left, or the control group if that is less."""
    limit, group = _group_limit()
    return _smaller(
        _meminfo().get("MemAvailable"), None if limit is None else limit - _group_use(group)
    )


def resident_bytes() -> int:
    """What this process holds in memory or has swapped out: more than all its arrays."""
    sizes = _fields(Path("/proc/self/status"))
    return sizes.get("VmRSS", 0) + sizes.get("VmSwap", 0)


def _smaller(first: int | None, second: int | None) -> int | None:
    known = [size for size in (first, second) if size is not None]
    return min(known, default=None)


def _meminfo() -> dict[str, int]:
    return _fields(Path("/proc/meminfo"))


def _fields(path: Path) -> dict[str, int]:
    """The lines "Name:  123 kB" of a file, in bytes."""
    fields = {}
    try:
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            number, _, unit = value.strip().partition(" ")
            if unit == "kB":
                fields[name] = int(number) * 1024
    except (OSError, ValueError):
        pass
    return fields


@functools.cache
def _group_limit() -> tuple[int | None, Path | None]:
    """The least that a control group around this process allows, and the folder of that group."""
    found: tuple[int | None, Path | None] = (None, None)
    for group in _groups():
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit = _number(group / name)
            # Version 1 writes "no limit" as a number near 2^63.
            if limit is not None and limit < 2**60 and (found[0] is None or limit < found[0]):
                found = (limit, group)
    return found


def _groups() -> list[Path]:
    """The folders of the control groups that this process is in, with those around them."""
    root = Path("/sys/fs/cgroup")
    folders = []
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top = root / controllers if controllers else root
        own = top / path.lstrip("/")
        folders += [folder for folder in (own, *own.parents) if folder.is_relative_to(top)]
    # A container may see its own group at the top, whatever it is called outside.
    return list(dict.fromkeys([*folders, root, root / "memory"]))


def _group_use(group: Path) -> int:
    """What a control group uses and cannot give back."""
    use = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes") or 0
    cached = 0
    try:
        for line in (group / "memory.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                cached = int(value)
    except (OSError, ValueError):
        pass
    return max(0, use - cached)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


@functools.cache
def largest_gpu_bytes() -> int | None:
    """What the largest CUDA device of this machine has; None if there is none."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return None
    sizes = []
    for index in range(count.value):
        device = ctypes.c_int()
        size = ctypes.c_size_t()
        if (
            cuda.cuDeviceGet(ctypes.byref(device), index) == 0
            and cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device) == 0
        ):
            sizes.append(size.value)
    return max(sizes, default=None)
