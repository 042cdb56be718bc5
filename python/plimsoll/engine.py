"""The engine: compiles StableHLO with a PJRT plugin and runs it on numpy arrays.

A thin layer over the C interface pjrt/c_api.h.
"""

import ctypes
import dataclasses
import functools
import importlib.util
import json
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

from plimsoll._native import check, lib, take_string
from plimsoll.errors import PlimsollError

_handle = ctypes.c_void_p
_handle_out = ctypes.POINTER(ctypes.c_void_p)
_text = ctypes.c_char_p
_size = ctypes.c_size_t
_int = ctypes.c_int
_shape = ctypes.POINTER(ctypes.c_int64)

# Every function of pjrt/c_api.h: its result, then its arguments.
_FUNCTIONS = {
    "plimsoll_element_types": (_handle,),
    "plimsoll_engine_create": (_handle, _text, _text, _int, _handle_out),
    "plimsoll_engine_free": (None, _handle),
    "plimsoll_engine_platform": (_text, _handle),
    "plimsoll_engine_version": (_text, _handle),
    "plimsoll_engine_api_version": (_text, _handle),
    "plimsoll_engine_compile": (_handle, _handle, _text, _size, _text, _handle_out),
    "plimsoll_executable_free": (None, _handle),
    "plimsoll_executable_name": (_text, _handle),
    "plimsoll_executable_result_count": (_size, _handle),
    "plimsoll_executable_argument_types": (_handle, _handle),
    "plimsoll_executable_memory": (_handle, _handle, _handle_out),
    "plimsoll_executable_execute": (_handle, _handle, _handle_out, _size, _handle_out),
    "plimsoll_buffer_create": (
        _handle, _handle, _text, _shape, _size, _handle, _size, _int, _handle_out,
    ),
    "plimsoll_buffer_free": (None, _handle),
    "plimsoll_buffer_element_type": (_text, _handle),
    "plimsoll_buffer_rank": (_size, _handle),
    "plimsoll_buffer_shape": (_shape, _handle),
    "plimsoll_buffer_size": (_size, _handle),
    "plimsoll_buffer_is_donated": (_int, _handle),
    "plimsoll_buffer_read": (_handle, _handle, _handle, _size),
}  # fmt: skip

for _name, (_result, *_arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments


def default_plugin() -> Path:
    """The plugin for those who name none: OpenXLA's for CPUs, from the package xla-cpu-pjrt."""
    try:
        spec = importlib.util.find_spec("xla_plugins.xla_cpu_pjrt")
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise PlimsollError(
            "PL203",
            "PJRT plugin: expected the package xla-cpu-pjrt, found that it is not installed;"
            " install it, or name another plugin",
        )
    return Path(spec.submodule_search_locations[0], "xla_cpu_pjrt.so")


@dataclasses.dataclass(frozen=True)
class Memory:
    """What XLA says a program needs, in bytes.

    `alias` is how much of the arguments' memory is used again for outputs. On a CPU `peak` leaves
    out the temporaries: rely on `needed`. The fields `host_...` count memory of the host, for
    devices that have their own.
    """

    argument: int
    output: int
    alias: int
    temporary: int
    generated_code: int
    peak: int
    host_argument: int
    host_output: int
    host_alias: int
    host_temporary: int
    host_generated_code: int

    @property
    def needed(self) -> int:
        """What lives while the program runs, with each byte counted once."""
        return self.argument + self.output - self.alias + self.temporary + self.generated_code


@dataclasses.dataclass(frozen=True)
class ArrayType:
    """A shape and an element type, named as in MLIR: "f32", "ui8", "complex<f32>"."""

    shape: tuple[int, ...]
    element_type: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element_type}>"

    @property
    def dtype(self) -> np.dtype:
        """numpy's element type."""
        return element_dtype(self.element_type)

    @property
    def host_bytes(self) -> int:
        """The size of such an array in numpy."""
        return math.prod(self.shape) * self.dtype.itemsize


@functools.cache
def _numpy_names() -> dict[str, str]:
    """MLIR's names of element types and numpy's."""
    types = json.loads(take_string(lib.plimsoll_element_types()))
    return {row["name"]: row["numpy"] for row in types}


@functools.cache
def _mlir_names() -> dict[str, str]:
    return {numpy: mlir for mlir, numpy in _numpy_names().items()}


@functools.cache
def element_dtype(element_type: str) -> np.dtype:
    """numpy's (or ml_dtypes') type for an element type of MLIR."""
    name = _numpy_names().get(element_type)
    if name is None:
        raise PlimsollError(
            "PL202", f"element type {element_type}: expected one of {', '.join(_numpy_names())}"
        )
    # numpy has most types, ml_dtypes the others.
    return np.dtype(getattr(np, name, None) or getattr(ml_dtypes, name))


def array_type(array: np.ndarray) -> ArrayType:
    """The type that a program sees when it is given `array`."""
    element_type = _mlir_names().get(array.dtype.name)
    if element_type is None:
        raise PlimsollError(
            "PL202",
            f"array of type {array.dtype}: expected one of {', '.join(_mlir_names())}",
        )
    return ArrayType(array.shape, element_type)


class DeviceArray:
    """An array on the engine's device."""

    def __init__(self, handle: int, host_memory: np.ndarray | None = None):
        self._handle = handle
        # Memory that the engine borrows lives until the buffer is freed.
        weakref.finalize(self, _free_buffer, handle, host_memory)
        rank = lib.plimsoll_buffer_rank(handle)
        self.type = ArrayType(
            tuple(lib.plimsoll_buffer_shape(handle)[:rank]),
            lib.plimsoll_buffer_element_type(handle).decode(),
        )

    @property
    def is_donated(self) -> bool:
        """True once a program has taken the array's memory for one of its results."""
        return bool(lib.plimsoll_buffer_is_donated(self._handle))

    def numpy(self) -> np.ndarray:
        """The values, copied to the host."""
        array = np.empty(self.type.shape, self.type.dtype)
        check(lib.plimsoll_buffer_read(self._handle, array.ctypes.data, array.nbytes))
        return array


def _free_buffer(handle: int, _host_memory: np.ndarray | None) -> None:
    lib.plimsoll_buffer_free(handle)


class Executable:
    """A compiled program. It is called with numpy arrays, and returns the list of its results."""

    def __init__(self, engine: "Engine", handle: int):
        self._engine = engine
        self._handle = handle
        weakref.finalize(self, lib.plimsoll_executable_free, handle)
        self.name: str = lib.plimsoll_executable_name(handle).decode()
        self.result_count: int = lib.plimsoll_executable_result_count(handle)

    @functools.cached_property
    def memory(self) -> Memory:
        """What XLA says the program needs."""
        json_text = ctypes.c_void_p()
        check(lib.plimsoll_executable_memory(self._handle, ctypes.byref(json_text)))
        return Memory(**json.loads(take_string(json_text.value)))

    def argument_types(self) -> list[ArrayType] | None:
        """What the program takes; None if the engine does not tell."""
        types = lib.plimsoll_executable_argument_types(self._handle)
        if types is None:
            return None
        return [
            ArrayType(tuple(row["shape"]), row["element_type"])
            for row in json.loads(take_string(types))
        ]

    def execute(self, arguments: Sequence[DeviceArray]) -> list[DeviceArray]:
        """Runs the program on arrays that are on the device already, and waits for its end."""
        handles = (ctypes.c_void_p * len(arguments))(*(array._handle for array in arguments))
        results = (ctypes.c_void_p * self.result_count)()
        check(lib.plimsoll_executable_execute(self._handle, handles, len(arguments), results))
        return [DeviceArray(result) for result in results]

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        # Nothing changes the arrays before this call ends, so they need not be copied.
        arguments = [self._engine.to_device(array, borrow=True) for array in arrays]
        return [result.numpy() for result in self.execute(arguments)]


class Engine:
    """A PJRT plugin with one of its devices.

    `plugin` is the path of the plugin's shared library; OpenXLA's CPU plugin if it is None.
    `options` go to the plugin's client. XLA's log messages appear on standard error only if the
    first engine that uses the plugin is `verbose`.
    """

    def __init__(
        self,
        plugin: str | os.PathLike[str] | None = None,
        verbose: bool = False,
        options: Mapping[str, object] | None = None,
    ):
        if plugin is None:
            plugin = default_plugin()
            # Its own default is four devices, and more threads than a small machine has cores.
            options = {"cpu_device_count": 1} | dict(options or {})
        handle = ctypes.c_void_p()
        check(
            lib.plimsoll_engine_create(
                os.fsencode(plugin), _json(options), verbose, ctypes.byref(handle)
            )
        )
        self._handle = handle.value
        weakref.finalize(self, lib.plimsoll_engine_free, handle.value)

    @property
    def platform(self) -> str:
        """Such as "cpu"."""
        return lib.plimsoll_engine_platform(self._handle).decode()

    @property
    def version(self) -> str:
        """The plugin's own version, in words."""
        return lib.plimsoll_engine_version(self._handle).decode()

    @property
    def api_version(self) -> str:
        """The version of PJRT's interface that the plugin speaks, such as "0.81"."""
        return lib.plimsoll_engine_api_version(self._handle).decode()

    def compile(
        self, program: bytes | str, xla_flags: Mapping[str, object] | None = None
    ) -> Executable:
        """Compiles StableHLO, text or bytecode.

        `xla_flags` are XLA's flags for this compilation alone, without dashes.
        """
        if isinstance(program, str):
            program = program.encode()
        handle = ctypes.c_void_p()
        check(
            lib.plimsoll_engine_compile(
                self._handle, program, len(program), _json(xla_flags), ctypes.byref(handle)
            )
        )
        return Executable(self, handle.value)

    def to_device(self, array: np.ndarray, borrow: bool = False) -> DeviceArray:
        """Moves an array to the device.

        With `borrow` the engine may use the array's own memory, which must then not change while
        the result lives. XLA:CPU does so if the memory starts at a multiple of 64 bytes.
        """
        array = np.asarray(array)
        element_type = array_type(array).element_type
        # No copy if the array is so already.
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        handle = ctypes.c_void_p()
        check(
            lib.plimsoll_buffer_create(
                self._handle,
                element_type.encode(),
                shape,
                array.ndim,
                array.ctypes.data,
                array.nbytes,
                borrow,
                ctypes.byref(handle),
            )
        )
        return DeviceArray(handle.value, array if borrow else None)


def _json(options: Mapping[str, object] | None) -> bytes | None:
    return json.dumps(dict(options)).encode() if options else None
