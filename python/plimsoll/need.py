"""What a compiled program needs in memory, on each of its devices (docs/memory.md)."""

import json
import os
from dataclasses import dataclass

import jaxlib.version

from plimsoll import _native

_NOTHING_HIDDEN = {"constants": 0, "code": 0, "scratch": 0, "instruction": ""}


@dataclass(frozen=True)
class Need:
    """Bytes on one device."""

    arguments: int
    results: int
    # What is both: the results that are written into donated arguments.
    aliased: int
    temporaries: int
    constants: int
    code: int
    scratch: int
    # The HLO instruction that takes most of the scratch, for messages.
    scratch_instruction: str = ""

    @property
    def total(self) -> int:
        return (
            self.arguments
            + self.results
            - self.aliased
            + self.temporaries
            + self.constants
            + self.code
            + self.scratch
        )


def need_of(executable, *, with_hidden: bool = True) -> Need | None:
    """The need of a jaxlib LoadedExecutable; None if its backend has no statistics.

    Without `with_hidden` it is only what XLA counts.
    """
    try:
        statistics = executable.get_compiled_memory_stats()
    except Exception:  # Each backend has its own way of not having them.
        return None
    if statistics is None:
        return None
    # A program that is compiled for another machine has no devices here.
    devices = executable.local_devices() if hasattr(executable, "local_devices") else []
    hidden = _NOTHING_HIDDEN
    if with_hidden and devices and devices[0].platform == "cpu":
        hidden = _hidden_memory(executable, len(devices))
    return Need(
        arguments=statistics.argument_size_in_bytes,
        results=statistics.output_size_in_bytes,
        aliased=statistics.alias_size_in_bytes,
        temporaries=statistics.temp_size_in_bytes,
        constants=hidden["constants"],
        code=statistics.generated_code_size_in_bytes + hidden["code"],
        scratch=hidden["scratch"],
        scratch_instruction=hidden["instruction"],
    )


def _hidden_memory(executable, devices: int) -> dict:
    """What XLA:CPU's statistics leave out: constants, code, and the scratch of its libraries."""
    modules = executable.hlo_modules()
    if not modules:
        return _NOTHING_HIDDEN
    # The devices of one executable run one and the same module.
    text = modules[0].to_string().encode()
    answer = _native.lib.plimsoll_hidden_memory(
        text, len(text), _thread_count(devices), _jaxlib_minor()
    )
    return json.loads(_native.take_string(answer))


def _thread_count(devices: int) -> int:
    """How many threads of XLA:CPU's pool, which all devices of the process share, one can have."""
    threads = len(os.sched_getaffinity(0))
    for name in ("NPROC", "PJRT_NPROC"):
        if os.environ.get(name, "").isdecimal():
            threads = int(os.environ[name])
    return -(-max(threads, devices) // devices)


def _jaxlib_minor() -> int:
    return jaxlib.version.__version_info__[1]
