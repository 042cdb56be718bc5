"""`plimsoll doctor`: what is found on this machine, and what is wrong."""

import importlib.metadata
import os
import platform
from typing import Any

import plimsoll
from plimsoll import device_memory, hook, xla_flags
from plimsoll.check import allowance_of
from plimsoll.errors import PlimsollError
from plimsoll.limits import ENVIRONMENT_VARIABLE, environment_limit
from plimsoll.show import section
from plimsoll.units import byte_text

# The versions of JAX that the tests run with, first and past the last.
_TESTED = ((0, 10), (0, 13))


def diagnose() -> tuple[str, list[str]]:
    """What was found, as text, and what is wrong, a line each."""
    problems: list[str] = []
    rows = [
        ("plimsoll", plimsoll.__version__),
        ("Python", platform.python_version()),
        *((name, _version(name, problems)) for name in ("jax", "jaxlib")),
        ("entry point", _entry_point(problems)),
    ]
    devices = _devices(problems)
    rows.append(("hook", hook.state()))
    if "not installed" in hook.state():
        problems.append(f"JAX does not go through Plimsoll: {hook.state()}")
    for device in devices:
        total = device_memory.device_total(device)
        rows.append((str(device), f"{device.device_kind}, {byte_text(total)}"))
    rows.append(("limit", _limit(devices, problems)))
    for name in ("PLIMSOLL", "PLIMSOLL_LOG", *xla_flags.VARIABLES.values()):
        if name in os.environ:
            rows.append((name, os.environ[name]))
    found = section("what was found", rows, "ll")
    if not problems:
        return f"{found}\n\nnothing is wrong", problems
    return "\n".join([found, "", "what is wrong", *(f"  {line}" for line in problems)]), problems


def _version(package: str, problems: list[str]) -> str:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        problems.append(f"{package} is not installed")
        return "none"
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if not _TESTED[0] <= numbers < _TESTED[1]:
        problems.append(f"{package} {version} was not tested with this version of Plimsoll")
    return version


def _entry_point(problems: list[str]) -> str:
    for entry in importlib.metadata.entry_points(group="jax_plugins"):
        if entry.value == "plimsoll.jax_plugin":
            return f"jax_plugins: {entry.value}"
    problems.append("JAX does not find Plimsoll: it is not installed as a package (pip install)")
    return "none"


def _devices(problems: list[str]) -> list[Any]:
    try:
        import jax

        return jax.local_devices()
    except PlimsollError as error:
        problems.append(str(error))
    except Exception as error:
        problems.append(f"JAX does not start: {type(error).__name__}: {error}")
    return []


def _limit(devices: list[Any], problems: list[str]) -> str:
    if hook.is_off():
        return "none (PLIMSOLL=off)"
    try:
        limit = environment_limit()
    except PlimsollError as error:
        problems.append(str(error))
        return f"{ENVIRONMENT_VARIABLE} is not valid"
    if not devices:
        return str(limit) if limit else "what the device has"
    if limit is None and devices[0].platform == "cpu":
        return f"{byte_text(device_memory.host_available())} (what the host has left)"
    return str(allowance_of(devices[0], limit) or "none is known")
