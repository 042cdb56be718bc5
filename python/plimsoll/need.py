"""What a compiled program needs in memory, on each of its devices (docs/memory.md)."""

import json
import os
from dataclasses import dataclass

from plimsoll import _native


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


@dataclass(frozen=True)
class Hidden:
    """What XLA:CPU's statistics leave out, and a bound of what they count. Bytes on one device."""

    values: int
    """No less than arguments, results and temporaries together."""
    constants: int
    code: int
    scratch: int
    instruction: str
    """The one with the most scratch."""
    text_size: int
    """How long the program is as HLO text."""

    @property
    def most_needed(self) -> int:
        """No less than the need."""
        return self.values + self.constants + self.code + self.scratch


NOTHING_HIDDEN = Hidden(0, 0, 0, 0, "", 0)


def need_of(executable, hidden: Hidden | None = None) -> Need | None:
    """The need of a jaxlib LoadedExecutable; None if its backend has no statistics.

    `hidden` is what `hidden_memory_of` says, if it was asked already.
    """
    try:
        statistics = executable.get_compiled_memory_stats()
    except Exception:  # Each backend has its own way of not having them.
        return None
    if statistics is None:
        return None
    hidden = hidden or hidden_memory_of(executable) or NOTHING_HIDDEN
    return Need(
        arguments=statistics.argument_size_in_bytes,
        results=statistics.output_size_in_bytes,
        aliased=statistics.alias_size_in_bytes,
        temporaries=statistics.temp_size_in_bytes,
        constants=hidden.constants,
        code=statistics.generated_code_size_in_bytes + hidden.code,
        scratch=hidden.scratch,
        scratch_instruction=hidden.instruction,
    )


def hidden_memory_of(executable) -> Hidden | None:
    """What XLA does not count of a LoadedExecutable; None if it is not for the CPU."""
    # A program that is compiled for another machine has no devices here.
    devices = executable.local_devices() if hasattr(executable, "local_devices") else []
    modules = executable.hlo_modules() if devices and devices[0].platform == "cpu" else []
    if not modules:
        return None
    # The devices of one executable run one and the same module.
    text = _text(modules[0]).encode()
    answer = _native.lib.plimsoll_hidden_memory(
        text, len(text), _thread_count(len(devices)), _jaxlib_minor()
    )
    return Hidden(**json.loads(_native.take_string(answer)), text_size=len(text))


def _text(module) -> str:
    """An HLO module as text, without the source lines, which take long to print."""
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions()
    options.print_metadata = False
    return module.to_string(options)


def _thread_count(devices: int) -> int:
    """How many threads of XLA:CPU's pool, which all devices of the process share, one can have."""
    threads = len(os.sched_getaffinity(0))
    for name in ("NPROC", "PJRT_NPROC"):
        if os.environ.get(name, "").isdecimal():
            threads = int(os.environ[name])
    return -(-max(threads, devices) // devices)


def _jaxlib_minor() -> int:
    import jaxlib.version

    return jaxlib.version.__version_info__[1]
