"""The command `plimsoll run`: runs a program on the engine, on given or random inputs, and tells what came out.

Exit status: 0; errors are raised as PlimsollError, which the command line turns into 2 (the user's mistake) or 1.
"""

import argparse
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from plimsoll import ir
from plimsoll.engine import ArrayType, DeviceArray, Engine, Executable, array_type, element_dtype
from plimsoll.errors import PlimsollError
from plimsoll.load import load_module

# XLA:CPU uses an array where it lies if it starts at a multiple of this many bytes.
_ALIGNMENT = 64
# How many elements are made or summed at a time where that needs memory of its own. It is part of what random inputs
# and sums are: another number would give others.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Argument:
    """An argument of a program: its number, its name in the user's source (arg0 and so on if unknown), and its type."""

    index: int
    name: str
    type: ArrayType

    def __str__(self) -> str:
        return f"argument {self.index} ({self.name})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Tells the parser what the command takes."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a StableHLO portable artifact, MLIR bytecode, or MLIR text (generic or pretty); - is standard input",
    )
    parser.add_argument(
        "--inputs",
        metavar="F.npz",
        help="the arguments, named arg0, arg1, ... or as in the program's source; random if not given",
    )
    parser.add_argument(
        "--seed", metavar="N", type=_whole_number, default=0, help="for the random arguments (0)"
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=_whole_number,
        default=1,
        help="how often to run again after the first call, to take the shortest time (1)",
    )
    parser.add_argument(
        "--plugin", metavar="SO", help="a PJRT plugin; OpenXLA's CPU plugin if not given"
    )
    parser.add_argument("--save", metavar="OUT.npz", help="write the results there, as result0, ...")
    parser.add_argument("--verbose", action="store_true", help="show the log of XLA")


def run(args: argparse.Namespace) -> int:
    """Runs the command."""
    if args.save is not None:
        _check_writable(args.save)
    module = load_module(args.file)
    arguments = main_arguments(module)
    inputs = open_inputs(args.inputs, arguments) if args.inputs else random_inputs(arguments, args.seed)

    engine = Engine(args.plugin, verbose=args.verbose)
    start = time.perf_counter()
    executable = engine.compile(module.text())
    compile_seconds = time.perf_counter() - start
    # The module, and the file that it borrows from, are no longer needed.
    del module

    results, first, repeats = _execute(engine, executable, inputs, len(arguments), args.repeat)
    _report_results(results, args.save)
    print(_time_line(compile_seconds, first, repeats))
    _report_memory(executable)
    return 0


def main_arguments(module: ir.Module) -> list[Argument]:
    """The arguments of the function that runs; an error if one is not an array of known shape."""
    main = next((function for function in module.functions if function.symbol == "main"), None)
    if main is None:
        found = ", ".join(f"@{function.symbol}" for function in module.functions) or "no function"
        raise PlimsollError("PL105", f"the program: expected a function @main, found {found}")
    names = [row["name"] for row in module.summary(largest=0)["arguments"]]
    return [_argument(name, value) for name, value in zip(names, main.body.arguments, strict=True)]


def _argument(name: str, value: ir.Value) -> Argument:
    argument_type = value.type
    what = f"argument {value.index} ({name}) is {argument_type}"
    if argument_type.shape is None:
        raise PlimsollError("PL202", f"{what}: expected a tensor; only programs on arrays can be run")
    if None in argument_type.shape:
        raise PlimsollError(
            "PL202",
            f"{what}: expected a shape that is known before the program runs; lower the program for arrays of definite"
            " sizes",
        )
    # Says which types there are if this is none of them.
    element_dtype(argument_type.element_type)
    return Argument(value.index, name, ArrayType(argument_type.shape, argument_type.element_type))


# Inputs come as a function from an argument's number to its array, so that no more than one is made at a time, and that an
# argument which the program has taken for its results can be made again.
Inputs = Callable[[int], np.ndarray]


def random_inputs(arguments: list[Argument], seed: int) -> Inputs:
    """Random arrays, each fixed by the seed and the argument's number.

    Floating-point numbers are standard normal, integers are from 0 to 9 (fewer where the type is small).
    """

    def make(index: int) -> np.ndarray:
        argument = arguments[index]
        try:
            array = _aligned(argument.type)
        except MemoryError:
            size = np.prod(argument.type.shape, dtype=object) * argument.type.dtype.itemsize
            raise PlimsollError(
                "PL301", f"{argument}: {argument.type} takes {byte_text(size)}, which this machine cannot give"
            ) from None
        _fill(array.reshape(-1), np.random.default_rng([seed, index]))
        return array

    return make


def _aligned(array_type: ArrayType) -> np.ndarray:
    """An array with any values, at an address that the engine can use without a copy."""
    dtype = array_type.dtype
    size = int(np.prod(array_type.shape, dtype=object)) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(array_type.shape)


def _fill(flat: np.ndarray, random: np.random.Generator) -> None:
    dtype = flat.dtype
    if dtype in (np.complex64, np.complex128):
        _fill(flat.view(flat.real.dtype), random)
    elif dtype in (np.float32, np.float64):
        random.standard_normal(out=flat, dtype=dtype)
    elif dtype == np.bool_:
        _fill_in_chunks(flat, lambda size: random.integers(2, size=size, dtype=np.uint8))
    elif _is_integer(dtype):
        # The bounds of ml_dtypes' small integers are not Python's integers.
        highest = min(9, int(_integer_bounds(dtype).max))
        _fill_in_chunks(flat, lambda size: random.integers(highest + 1, size=size, dtype=np.uint8))
    elif dtype.name == "float8_e8m0fnu":
        # It has no sign.
        _fill_in_chunks(flat, lambda size: np.abs(random.standard_normal(size, np.float32)))
    else:
        _fill_in_chunks(flat, lambda size: random.standard_normal(size, np.float32))


def _fill_in_chunks(flat: np.ndarray, make: Callable[[int], np.ndarray]) -> None:
    for chunk in _chunks(flat):
        chunk[:] = make(chunk.size).astype(flat.dtype)


def _chunks(flat: np.ndarray) -> Iterator[np.ndarray]:
    return (flat[start : start + _CHUNK] for start in range(0, flat.size, _CHUNK))


def _is_integer(dtype: np.dtype) -> bool:
    return np.issubdtype(dtype, np.integer) or dtype.name in ("int2", "int4", "uint2", "uint4")


def _integer_bounds(dtype: np.dtype):
    if np.issubdtype(dtype, np.integer):
        return np.iinfo(dtype)
    import ml_dtypes

    return ml_dtypes.iinfo(dtype)


def open_inputs(path: str, arguments: list[Argument]) -> Inputs:
    """The arrays of a file that numpy.savez wrote, checked against the arguments."""
    archive = _open_archive(path)
    names = _match_names(path, archive.files, arguments)

    def read(index: int) -> np.ndarray:
        argument, name = arguments[index], names[index]
        try:
            array = archive[name]
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise PlimsollError("PL201", f"{path}, array {name}: cannot be read: {error}") from None
        # numpy's files do not know the types of ml_dtypes, and give them back as bytes without a meaning.
        if array.dtype.kind == "V" and array.dtype.itemsize == argument.type.dtype.itemsize:
            array = array.view(argument.type.dtype)
        found = array_type(array)
        if found != argument.type:
            raise PlimsollError(
                "PL202", f"{path}, array {name}: expected {argument.type} for {argument}, found {found}"
            )
        return array

    return read


def _open_archive(path: str) -> np.lib.npyio.NpzFile:
    expected = "expected a .npz file, as numpy.savez writes it"
    try:
        if not zipfile.is_zipfile(path):
            # Opened, because is_zipfile says no as well where a file cannot be read.
            open(path, "rb").close()
            raise PlimsollError("PL201", f"{path}: {expected}, found another kind of file")
        return np.load(path)
    except (OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PlimsollError("PL201", f"{path}: {expected}, found: {reason}") from None


def _match_names(path: str, found: list[str], arguments: list[Argument]) -> list[str]:
    """For each argument the name of its array. All arrays are named in one of three ways."""
    ways = [
        [f"arg{argument.index}" for argument in arguments],
        [argument.name for argument in arguments],
        # As numpy.savez names arrays that are given without names.
        [f"arr_{argument.index}" for argument in arguments],
    ]
    for names in ways:
        if set(names) == set(found) and len(set(names)) == len(names):
            return names
    expected = _names_text(ways[0])
    if ways[1] != ways[0]:
        expected += f" (or {', '.join(ways[1])})"
    raise PlimsollError("PL202", f"{path}: expected {expected}, found {_names_text(found)}")


def _names_text(names: list[str]) -> str:
    if not names:
        return "no arrays"
    return ("the array " if len(names) == 1 else "the arrays ") + ", ".join(names)


def _execute(
    engine: Engine, executable: Executable, inputs: Inputs, argument_count: int, repeat: int
) -> tuple[list[DeviceArray], float, list[float]]:
    """The results, the seconds of the first call, and those of each further one."""
    arguments = [engine.to_device(inputs(index), borrow=True) for index in range(argument_count)]
    seconds = []
    for _ in range(1 + repeat):
        for index, argument in enumerate(arguments):
            if argument.is_donated:
                arguments[index] = engine.to_device(inputs(index))
        # The last results are freed first, so that no more memory is held than the program needs.
        results = []
        start = time.perf_counter()
        results = executable.execute(arguments)
        seconds.append(time.perf_counter() - start)
    return results, seconds[0], seconds[1:]


def _report_results(results: list[DeviceArray], save: str | None) -> None:
    saved: dict[str, np.ndarray] = {}
    for index, result in enumerate(results):
        array = result.numpy()
        print(f"result {index}: {result.type}, {checksum(array)}")
        if save is not None:
            saved[f"result{index}"] = array
    if save is not None:
        try:
            # Opened here, because numpy would add an ending to the name.
            with open(save, "wb") as file:
                np.savez(file, **saved)
        except OSError as error:
            raise PlimsollError("PL201", f"{save}: cannot be written: {error.strerror}") from None


def checksum(array: np.ndarray) -> str:
    """The sum of the elements, in double precision, and the CRC-32 of their bytes."""
    flat = np.ascontiguousarray(array).reshape(-1)
    wide = np.complex128 if flat.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        total = sum((chunk.astype(wide).sum() for chunk in _chunks(flat)), start=wide(0))
    return f"sum {total:.17g}, crc32 {zlib.crc32(flat.view(np.uint8)):08x}"


def _time_line(compile_seconds: float, first: float, repeats: list[float]) -> str:
    line = f"time: {seconds_text(compile_seconds)} to compile, {seconds_text(first)} the first call"
    if repeats:
        calls = "1 more" if len(repeats) == 1 else f"the best of {len(repeats)} more"
        line += f", {seconds_text(min(repeats))} {calls}"
    return line


def _report_memory(executable: Executable) -> None:
    memory = executable.memory
    rows: Mapping[str, int] = {
        "arguments": memory.argument,
        "results": memory.output,
        "of these in the arguments' memory": memory.alias,
        "temporaries": memory.temporary,
        "code": memory.generated_code,
        "together": memory.needed,
    }
    width = max(map(len, rows))
    print("memory, as XLA counts it:")
    for name, size in rows.items():
        print(f"  {name:<{width}}  {byte_text(size)}")


def seconds_text(seconds: float) -> str:
    """A time with three digits and the unit that fits."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def byte_text(size: int) -> str:
    """A number of bytes in units that are powers of two."""
    if size < 1024:
        return "1 byte" if size == 1 else f"{size} bytes"
    unit = min((size.bit_length() - 1) // 10, len(_UNITS))
    return f"{size / 1024**unit:.1f} {_UNITS[unit - 1]}"


_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def _check_writable(path: str) -> None:
    """An error before the program runs, rather than after."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        problem = "a directory"
    elif not os.path.isdir(folder):
        problem = f"no folder {folder}"
    elif not os.access(path if os.path.exists(path) else folder, os.W_OK):
        problem = "that it may not be written"
    else:
        return
    raise PlimsollError("PL201", f"{path}: expected a file to write, found {problem}")


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return int(text)
