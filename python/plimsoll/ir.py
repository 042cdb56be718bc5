"""The graph of a StableHLO program, to look at from Python.

    module = plimsoll.ir.parse(program)
    for op in module.walk():
        print(op.name, [str(value.type) for value in op.results], op.source)

Ops, blocks and values are light handles. Two handles are equal if they stand for the same thing,
and a handle keeps its module (and the program's bytes) alive.
"""

import ctypes
import json
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll import convert
from plimsoll._native import check, lib, take_string
from plimsoll.errors import PlimsollError

__all__ = ["Block", "Module", "Op", "Type", "Value", "parse", "pipeline_steps", "rules"]


def parse(program: str | convert.Buffer, name: str = "<program>") -> "Module":
    """Reads a program.

    `program` is a StableHLO portable artifact, MLIR bytecode, or MLIR text, generic or as JAX
    prints it. Pretty text, and bytecode of dialects that the core does not know, are read with
    jaxlib's MLIR. Large constants are borrowed from `program`, not copied: a buffer that is not
    `bytes` must not be changed while the module lives. `name` stands for the program in error
    messages.
    """
    data = _encode(program) if isinstance(program, str) else program
    try:
        return Module(data, name)
    except PlimsollError as refusal:
        if not convert.can_help(data, refusal):
            raise
        text = convert.to_generic_text(data, name, refusal)
    return Module(text, name)


def pipeline_steps() -> list[dict[str, str]]:
    """The steps of the pipeline in order, each with its "name" and "why"."""
    return json.loads(take_string(lib.plimsoll_pipeline_steps()))


def rules() -> list[dict[str, Any]]:
    """The rules of algebra, each with its "name", "pattern", "result", "guard" and "strict"."""
    return json.loads(take_string(lib.plimsoll_rules()))


class Module:
    """A program: functions, and the attributes that hold for all of it. Made by `parse`."""

    def __init__(self, data: convert.Buffer, name: str):
        # The module borrows from the data, so the data must live as long.
        self._data, address, size = _address(data)
        handle = ctypes.c_void_p()
        check(lib.plimsoll_module_parse(address, size, os.fsencode(name), ctypes.byref(handle)))
        self._own(handle.value)

    @classmethod
    def from_pointer(cls, pointer: int, source: "Module") -> "Module":
        """A module that the core made from `source`, whose bytes it may share."""
        module = cls.__new__(cls)
        module._data = source._data
        module._own(pointer)
        return module

    def _own(self, pointer: int) -> None:
        self._pointer = pointer
        self._generation = 0
        self._finalizer = weakref.finalize(self, lib.plimsoll_module_free, pointer)

    @property
    def op(self) -> "Op":
        """The `builtin.module` op, which holds everything."""
        return Op(self, lib.plimsoll_module_op(self._pointer))

    @property
    def functions(self) -> list["Op"]:
        """The functions (`func.func`) in the order of the program."""
        return [op for op in self.op.body if op.name == "func.func"]

    def walk(self) -> Iterator["Op"]:
        """Every op inside the module, in the order of the text: an op before those inside it."""
        walk = self.op.walk()
        next(walk)
        return walk

    def text(self, locations: bool = True) -> str:
        """The program as generic MLIR text, which XLA and MLIR read."""
        return _decode(self.text_bytes(locations))

    def text_bytes(self, locations: bool = True) -> bytes:
        """The same as it is written to a file. For large programs this saves a copy."""
        return take_string(lib.plimsoll_module_text(self._pointer, locations))

    def verify(self) -> None:
        """Raises a PlimsollError that says what is wrong and where, if a rule is broken."""
        check(lib.plimsoll_module_verify(self._pointer))

    def summary(self, largest: int = 20) -> dict[str, Any]:
        """Arguments, results, ops by kind, the `largest` biggest values, and totals."""
        return json.loads(take_string(lib.plimsoll_module_summary(self._pointer, largest)))

    def peak(self) -> dict[str, Any]:
        """What XLA:CPU's temporaries will be, as estimated before it compiles the program.

        "bytes", "source" (the user's line that runs when they are most), and "values", what lives
        then, largest first, each with "bytes", "type" and "source".
        """
        return json.loads(take_string(lib.plimsoll_module_peak(self._pointer)))

    def compile(
        self, stop_after: str | None = None, dump_directory: str | os.PathLike[str] | None = None
    ) -> None:
        """Runs the pipeline on the module, in place, up to and with the step `stop_after`.

        All steps are run if it is None. With `dump_directory`, the graph is written there after
        each step. Handles from before are not valid any more.
        """
        self._generation += 1
        check(
            lib.plimsoll_module_compile(
                self._pointer,
                None if stop_after is None else _encode(stop_after),
                None if dump_directory is None else os.fsencode(dump_directory),
            )
        )

    def simplify(
        self, *, strict: bool = False, disabled: Sequence[str] = (), **others: int
    ) -> tuple["Module", dict[str, Any]]:
        """The program as algebra makes it, and what was done (docs/rules.md).

        `strict` allows only rules that reorder sums and products; rules in `disabled` are not used.
        With `kernel_threads` it calls kernels for a processor where they are faster.
        This module stays as it is.
        """
        module, report = ctypes.c_void_p(), ctypes.c_void_p()
        options = json.dumps({"strict": strict, "disabled": list(disabled), **others}).encode()
        check(
            lib.plimsoll_module_simplify(
                self._pointer, options, ctypes.byref(module), ctypes.byref(report)
            )
        )
        return Module.from_pointer(module.value, self), json.loads(take_string(report.value))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<plimsoll.ir.Module with {len(self.functions)} functions>"


class _Handle:
    """Something that belongs to a module, known by its address."""

    __slots__ = ("_address", "_generation", "module")

    def __init__(self, module: Module, address: int):
        self.module = module
        self._address = address
        self._generation = module._generation

    @property
    def _pointer(self) -> int:
        # An address from before a compile() may point to what is no longer there.
        if self._generation != self.module._generation:
            raise ReferenceError("the module was compiled since; ask it again for its ops")
        return self._address

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and other._address == self._address
            and other._generation == self._generation
        )

    def __hash__(self) -> int:
        return hash(self._address)


class Op(_Handle):
    """An operation: its name, operands, results, attributes, regions and location."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name with its dialect, such as "stablehlo.add"."""
        return _decode(lib.plimsoll_op_name(self._pointer))

    @property
    def symbol(self) -> str | None:
        """The name by which others refer to the op, such as a function's "main"; often None."""
        return self.attributes.get("sym_name")

    @property
    def operands(self) -> list["Value"]:
        """The values that the op takes."""
        return _list(self, Value, lib.plimsoll_op_operand_count, lib.plimsoll_op_operand)

    @property
    def results(self) -> list["Value"]:
        """The values that the op makes."""
        return _list(self, Value, lib.plimsoll_op_result_count, lib.plimsoll_op_result)

    @property
    def regions(self) -> list[list["Block"]]:
        """The regions, each a list of blocks. StableHLO's regions have one block."""
        pointer = self._pointer
        return [
            [
                Block(self.module, lib.plimsoll_op_block(pointer, region, index))
                for index in range(lib.plimsoll_op_block_count(pointer, region))
            ]
            for region in range(lib.plimsoll_op_region_count(pointer))
        ]

    @property
    def body(self) -> "Block":
        """The first block of the first region. A LookupError if there is none."""
        for region in self.regions:
            for block in region:
                return block
        raise LookupError(f"{self.name} has no block")

    @property
    def parent(self) -> "Op | None":
        """The op in whose region this one stands; None for the module."""
        block = self.block
        return block.parent if block else None

    @property
    def block(self) -> "Block | None":
        """The block in which this op stands; None for the module."""
        return _optional(self, Block, lib.plimsoll_op_parent)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes as Python values, inherent ones first.

        Integers, booleans, strings, lists and dictionaries are Python's own, structured attributes
        are dictionaries of their fields, and everything else (such as a constant's value) is its
        MLIR text.
        """
        return json.loads(take_string(lib.plimsoll_op_attributes(self._pointer)))

    def attribute_text(self, name: str) -> str:
        """The attribute `name` as MLIR text. A KeyError if the op has none of that name."""
        string = lib.plimsoll_op_attribute_text(self._pointer, _encode(name))
        if not string:
            raise KeyError(name)
        return _decode(take_string(string))

    @property
    def location(self) -> str:
        """The location as MLIR text."""
        return _decode(take_string(lib.plimsoll_op_location_text(self._pointer)))

    @property
    def source(self) -> str:
        """The user's own line, such as "train.py:41"; "" if it is not known."""
        return _decode(take_string(lib.plimsoll_op_source(self._pointer)))

    def walk(self) -> Iterator["Op"]:
        """This op and every op inside it, in the order of the text."""
        # A stack of its own, because programs may be nested deeper than Python's calls.
        pending = [iter((self,))]
        while pending:
            op = next(pending[-1], None)
            if op is None:
                pending.pop()
                continue
            yield op
            pending.extend(
                iter(block) for region in reversed(op.regions) for block in reversed(region)
            )

    def __str__(self) -> str:
        return _decode(take_string(lib.plimsoll_op_text(self._pointer)))

    def __repr__(self) -> str:
        return f"<plimsoll.ir.Op {self.name} at {self.source or 'an unknown line'}>"


class Block(_Handle):
    """A list of ops, with arguments. Iterating over it gives its ops."""

    __slots__ = ()

    @property
    def arguments(self) -> list["Value"]:
        """The values that come from outside: of a function's block, the function's arguments."""
        return _list(self, Value, lib.plimsoll_block_argument_count, lib.plimsoll_block_argument)

    @property
    def parent(self) -> Op | None:
        """The op to which the block belongs."""
        return _optional(self, Op, lib.plimsoll_block_parent)

    def __iter__(self) -> Iterator[Op]:
        op = _optional(self, Op, lib.plimsoll_block_first_op)
        while op is not None:
            yield op
            op = _optional(op, Op, lib.plimsoll_op_next)

    def __repr__(self) -> str:
        return f"<plimsoll.ir.Block of {self.parent!r}>"


class Value(_Handle):
    """The result of an op, or the argument of a block."""

    __slots__ = ()

    @property
    def type(self) -> "Type":
        fields = json.loads(take_string(lib.plimsoll_value_type_json(self._pointer)))
        shape = fields.get("shape")
        return Type(
            text=fields["text"],
            kind=fields["kind"],
            shape=None if shape is None else tuple(shape),
            element_type=fields.get("element_type"),
            bytes=fields.get("bytes"),
        )

    @property
    def owner(self) -> Op | Block:
        """The op whose result this is, or the block whose argument it is."""
        op = _optional(self, Op, lib.plimsoll_value_defining_op)
        return op or Block(self.module, lib.plimsoll_value_block(self._pointer))

    @property
    def index(self) -> int:
        """The number of this value among the owner's results or arguments."""
        return lib.plimsoll_value_index(self._pointer)

    @property
    def users(self) -> list[Op]:
        """The ops that take this value, one entry for each use."""
        return _list(self, Op, lib.plimsoll_value_use_count, lib.plimsoll_value_user)

    def __repr__(self) -> str:
        owner = self.owner
        what = f"result {self.index} of" if isinstance(owner, Op) else f"argument {self.index} of"
        return f"<plimsoll.ir.Value {self.type}, {what} {owner!r}>"


@dataclass(frozen=True)
class Type:
    """The type of a value."""

    text: str
    """The type as MLIR text, such as "tensor<2x?xf32>"."""
    kind: str
    """What it is: "tensor", "tuple", "token" and so on."""
    shape: tuple[int | None, ...] | None
    """A tensor's dimensions, None for one that is dynamic; None for what is not a ranked tensor."""
    element_type: str | None
    """A tensor's element type as MLIR text, such as "f32"."""
    bytes: int | None
    """The size in memory; None if it is not known."""

    def __str__(self) -> str:
        return self.text


def _decode(text: bytes) -> str:
    # Names may hold bytes that are not UTF-8. They come back unchanged when the text is encoded.
    return text.decode(errors="surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _list(handle: _Handle, kind: type, count: Callable, item: Callable) -> list:
    pointer = handle._pointer
    return [kind(handle.module, item(pointer, index)) for index in range(count(pointer))]


def _optional(handle: _Handle, kind: type, ask: Callable) -> Any:
    pointer = ask(handle._pointer)
    return kind(handle.module, pointer) if pointer else None


def _address(data: convert.Buffer) -> tuple[object, int | None, int]:
    """The object that keeps the bytes where they are, their address, and their number."""
    if not isinstance(data, bytes):
        view = memoryview(data)
        if not view.readonly and view.contiguous and view.nbytes:
            borrowed = (ctypes.c_char * view.nbytes).from_buffer(view)
            return borrowed, ctypes.addressof(borrowed), view.nbytes
        # ctypes cannot take the address of a buffer that is only readable.
        data = view.tobytes()
    return data, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data)
