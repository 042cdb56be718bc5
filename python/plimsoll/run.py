"""The command `plimsoll run`: runs a program on given or random inputs, and tells what came out.

Errors are raised as PlimsollError, which the command line turns into an exit status.
"""

import argparse
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from plimsoll import ir
from plimsoll.engine import ArrayType, DeviceArray, Engine, Executable, array_type, element_dtype
from plimsoll.errors import PlimsollError
from plimsoll.load import load_module

# XLA:CPU uses an array where it lies if it starts at a multiple of this many bytes.
_ALIGNMENT = 64
# How many elements are made or summed at a time where that needs memory of its own. Another number
# would give other random inputs, and sums that differ in their last digits.
_CHUNK = 1 << 20
# The attributes with which JAX says that an argument is donated.
_DONATION = {"tf.aliasing_output", "jax.buffer_donor"}
_BYTE_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

# An argument's array, by the argument's number. One is made at a time, and made again if the
# program has taken its memory for a result.
Inputs = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Argument:
    """An argument of a program. Its name is that in the user's source, or arg0 and so on."""

    index: int
    name: str
    type: ArrayType
    is_donated: bool = False
    """True if the program may take the argument's memory for its results."""

    def __str__(self) -> str:
        return f"argument {self.index} ({self.name})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Tells the parser what the command takes."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a StableHLO portable artifact, MLIR bytecode, or MLIR text (generic or pretty);"
        " - is standard input",
    )
    parser.add_argument(
        "--inputs",
        metavar="F.npz",
        help="the arguments, named arg0, arg1, ... or as in the program's source;"
        " random ones if not given",
    )
    parser.add_argument(
        "--seed", metavar="N", type=_whole_number, default=0, help="for random arguments (0)"
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=_whole_number,
        default=1,
        help="how often to run after the first call, to take the shortest time (1)",
    )
    parser.add_argument(
        "--plugin", metavar="SO", help="a PJRT plugin; OpenXLA's CPU plugin if not given"
    )
    parser.add_argument(
        "--save", metavar="OUT.npz", help="write the results there, named result0, result1, ..."
    )
    parser.add_argument("--verbose", action="store_true", help="show XLA's log messages")


def run(args: argparse.Namespace) -> int:
    """Runs the command, and returns its exit status, which is 0."""
    if args.save is not None:
        _check_writable(args.save)
    module = load_module(args.file)
    arguments = main_arguments(module)
    if args.inputs is not None:
        inputs = inputs_of_file(args.inputs, arguments)
    else:
        inputs = random_inputs(arguments, args.seed)

    engine = Engine(args.plugin, verbose=args.verbose)
    start = time.perf_counter()
    executable = engine.compile(module.text_bytes())
    compile_seconds = time.perf_counter() - start
    # The module, and the file that it borrows from, are no longer needed.
    del module

    results, seconds = _execute(engine, executable, arguments, inputs, args.repeat)
    _report_results(results, args.save)
    _report_time(compile_seconds, seconds)
    _report_memory(executable)
    return 0


def main_arguments(module: ir.Module) -> list[Argument]:
    """The arguments of the function that runs; an error if one is no array of known shape."""
    with_body = {
        function.symbol: function for function in module.functions if any(function.regions)
    }
    main = with_body.get("main")
    if main is None:
        found = ", ".join(f"@{name}" for name in with_body) or "no function"
        raise PlimsollError("PL105", f"the program: expected a function @main, found {found}")
    names = [row["name"] for row in module.summary(largest=0)["arguments"]]
    values = main.body.arguments
    attributes = main.attributes.get("arg_attrs") or [{}] * len(values)
    return list(map(_argument, names, values, attributes))


def _argument(name: str, value: ir.Value, attributes: dict[str, object]) -> Argument:
    found = value.type
    what = f"argument {value.index} ({name})"
    if found.shape is None:
        raise PlimsollError("PL202", f"{what}: expected an array, found {found}")
    if None in found.shape:
        raise PlimsollError(
            "PL202",
            f"{what}: expected a shape that is known before the program runs, found {found};"
            " lower the program for arrays of definite sizes",
        )
    try:
        element_dtype(found.element_type)
    except PlimsollError as error:
        raise PlimsollError(error.code, f"{what}: {error.message}") from None
    is_donated = not _DONATION.isdisjoint(attributes)
    return Argument(value.index, name, ArrayType(found.shape, found.element_type), is_donated)


def random_inputs(arguments: list[Argument], seed: int) -> Inputs:
    """Random arrays, each fixed by the seed and the argument's number.

    Floating-point numbers are standard normal, integers from 0 to 9 or to their type's highest.
    """

    def make(index: int) -> np.ndarray:
        argument = arguments[index]
        try:
            array = _aligned(argument.type)
        except (MemoryError, OverflowError, ValueError):
            raise PlimsollError(
                "PL301",
                f"{argument}: {argument.type} takes {byte_text(argument.type.host_bytes)},"
                " which cannot be had",
            ) from None
        _fill(array.reshape(-1), np.random.default_rng([seed, index]))
        return array

    return make


def _aligned(array_type: ArrayType) -> np.ndarray:
    """An array without definite values, at an address that the engine uses without a copy."""
    memory = np.empty(array_type.host_bytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    values = memory[start : start + array_type.host_bytes]
    return values.view(array_type.dtype).reshape(array_type.shape)


def _fill(flat: np.ndarray, random: np.random.Generator) -> None:
    dtype = flat.dtype
    if dtype.kind == "c":
        _fill(flat.view(flat.real.dtype), random)
    elif dtype in (np.float32, np.float64):
        random.standard_normal(out=flat, dtype=dtype)
    elif dtype.name == "float8_e8m0fnu":
        # This type has no sign.
        _fill_in_chunks(flat, lambda size: np.abs(random.standard_normal(size, np.float32)))
    elif dtype == np.bool_ or "int" in dtype.name:
        highest = 1 if dtype == np.bool_ else min(9, int(ml_dtypes.iinfo(dtype).max))
        _fill_in_chunks(flat, lambda size: random.integers(highest + 1, size=size, dtype=np.uint8))
    else:
        _fill_in_chunks(flat, lambda size: random.standard_normal(size, np.float32))


def _fill_in_chunks(flat: np.ndarray, make: Callable[[int], np.ndarray]) -> None:
    for chunk in _chunks(flat):
        chunk[:] = make(chunk.size).astype(flat.dtype)


def _chunks(flat: np.ndarray) -> Iterator[np.ndarray]:
    return (flat[start : start + _CHUNK] for start in range(0, flat.size, _CHUNK))


def inputs_of_file(path: str, arguments: list[Argument]) -> Inputs:
    """The arrays of a file as numpy.savez writes it. Each is checked when it is asked for."""
    archive = _open_archive(path)
    names = _match_names(path, archive.files, arguments)

    def read(index: int) -> np.ndarray:
        argument, name = arguments[index], names[index]
        try:
            array = archive[name]
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise PlimsollError("PL201", f"{path}: {name} cannot be read: {error}") from None
        # Files of numpy do not know ml_dtypes' types, and give them back as bytes of that size.
        if array.dtype.kind == "V" and array.dtype.itemsize == argument.type.dtype.itemsize:
            array = array.view(argument.type.dtype)
        found = array_type(array)
        if found != argument.type:
            raise PlimsollError(
                "PL202", f"{path}: {name}: expected {argument.type} for {argument}, found {found}"
            )
        return array

    return read


def _open_archive(path: str) -> np.lib.npyio.NpzFile:
    expected = "expected a .npz file, as numpy.savez writes it"
    try:
        # numpy decides by the first bytes what a file is, and its message about others is about
        # pickles.
        with open(path, "rb") as file:
            is_archive = zipfile.is_zipfile(file)
        if is_archive:
            return np.load(path)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PlimsollError("PL201", f"{path}: {expected}, found: {reason}") from None
    raise PlimsollError("PL201", f"{path}: {expected}, found another kind of file")


def _match_names(path: str, found: list[str], arguments: list[Argument]) -> list[str]:
    """For each argument the name of its array. All arrays are named in one of three ways."""
    by_number = [f"arg{argument.index}" for argument in arguments]
    by_source = [argument.name for argument in arguments]
    # As numpy.savez calls arrays that were given without names.
    by_numpy = [f"arr_{argument.index}" for argument in arguments]
    for names in (by_number, by_source, by_numpy):
        if set(names) == set(found) and len(names) == len(found):
            return names
    expected = _names_text(by_number)
    if by_source != by_number:
        expected += f" (or {', '.join(by_source)})"
    raise PlimsollError("PL202", f"{path}: expected {expected}, found {_names_text(found)}")


def _names_text(names: list[str]) -> str:
    if not names:
        return "no arrays"
    return ("the array " if len(names) == 1 else "the arrays ") + ", ".join(names)


def _execute(
    engine: Engine, executable: Executable, arguments: list[Argument], inputs: Inputs, repeat: int
) -> tuple[list[DeviceArray], list[float]]:
    """The results, and the seconds of each call."""

    def move(argument: Argument) -> DeviceArray:
        array = inputs(argument.index)
        # Borrowed only if the engine then makes no copy, neither now nor to keep what is donated.
        is_aligned = array.ctypes.data % _ALIGNMENT == 0
        return engine.to_device(array, borrow=is_aligned and not argument.is_donated)

    on_device = [move(argument) for argument in arguments]
    # The first call would ask for these, and take longer for it.
    executable.argument_types()
    results: list[DeviceArray] = []
    seconds = []
    for _ in range(1 + repeat):
        # Freed before the next call, so that no more memory is held than the program needs.
        results.clear()
        on_device = [
            move(argument) if array.is_donated else array
            for argument, array in zip(arguments, on_device, strict=True)
        ]
        start = time.perf_counter()
        results = executable.execute(on_device)
        seconds.append(time.perf_counter() - start)
    return results, seconds


def _report_results(results: list[DeviceArray], save: str | None) -> None:
    arrays: dict[str, np.ndarray] = {}
    for index, result in enumerate(results):
        array = result.numpy()
        print(f"result {index}: {result.type}, {checksum(array)}")
        if save is not None:
            arrays[f"result{index}"] = array
    if save is not None:
        try:
            # Opened here, because numpy would add an ending to the name.
            with open(save, "wb") as file:
                np.savez(file, **arrays)
        except OSError as error:
            raise PlimsollError("PL201", f"{save}: cannot be written: {error.strerror}") from None


def checksum(array: np.ndarray) -> str:
    """The sum of the elements in double precision, and the CRC-32 of their bytes."""
    flat = np.ascontiguousarray(array).reshape(-1)
    wide = np.complex128 if flat.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        total = sum((chunk.astype(wide).sum() for chunk in _chunks(flat)), start=wide(0))
    return f"sum {total:.17g}, crc32 {zlib.crc32(flat.view(np.uint8)):08x}"


def _report_time(compile_seconds: float, seconds: list[float]) -> None:
    first, *others = seconds
    line = f"time: {time_text(compile_seconds)} to compile, {time_text(first)} for the first call"
    if others:
        which = "the next" if len(others) == 1 else f"the fastest of {len(others)} more"
        line += f", {time_text(min(others))} for {which}"
    print(line)


def _report_memory(executable: Executable) -> None:
    memory = executable.memory
    rows = {
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


def time_text(seconds: float) -> str:
    """A time with three digits, in the unit that fits."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def byte_text(size: int) -> str:
    """A number of bytes, in units that are powers of two."""
    if size < 1024:
        return "1 byte" if size == 1 else f"{size} bytes"
    power = min((size.bit_length() - 1) // 10, len(_BYTE_UNITS))
    return f"{size / 1024**power:.1f} {_BYTE_UNITS[power - 1]}"


def _check_writable(path: str) -> None:
    """An error before the program runs rather than after it."""
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
