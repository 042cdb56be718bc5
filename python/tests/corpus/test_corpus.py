"""The corpus itself: what it covers, and what jaxlib's own round trips do to it.

The second part is written down as tests because what the round-trip tests expect rests on it.
"""

import collections
import pathlib
import re

import jax.lax
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import _chlo_ops_gen, _sdy_ops_gen, _stablehlo_ops_gen

import corpus

PROGRAMS = {program.name: program for program in corpus.programs()}


def attributes_by_op() -> dict[str, set[str]]:
    """All ops of the dialects, with the names of their attributes, from jaxlib's own tables."""
    tables = (_stablehlo_ops_gen, _chlo_ops_gen, _sdy_ops_gen)
    source = "".join(pathlib.Path(table.__file__).read_text() for table in tables)
    ops: dict[str, set[str]] = {}
    for name, body in re.findall(
        r'OPERATION_NAME = "([^"]+)"(.*?)(?=\nclass |\Z)', source, re.DOTALL
    ):
        named = re.findall(r'attributes\["(\w+)"\]', body)
        flags = re.findall(r'"(\w+)" (?:not )?in self\.operation\.attributes', body)
        ops.setdefault(name, set()).update(named, flags)
    # Of constants there are many, and some have values that jaxlib's Python cannot hold.
    ops["stablehlo.constant"].clear()
    # For the others, it is enough that each op is there.
    return {op: names if op.startswith("stablehlo.") else set() for op, names in ops.items()}


def walk(op: ir.Operation):
    yield op
    for region in op.regions:
        for block in region:
            for inner in block:
                yield from walk(inner.operation)


@pytest.fixture(scope="module")
def values() -> dict[str, dict[str, set[str]]]:
    """The values of each attribute of each op, over the whole corpus; "" where it is left out."""
    wanted = attributes_by_op()
    found: dict[str, dict[str, set[str]]] = {}
    for program in PROGRAMS.values():
        for op in walk(corpus.lower(program).operation):
            of_op = found.setdefault(op.name, collections.defaultdict(set))
            for attribute in wanted.get(op.name, ()):
                present = attribute in op.attributes
                of_op[attribute].add(str(op.attributes[attribute]) if present else "")
    return found


def test_every_op_and_attribute_is_there(values):
    wanted = attributes_by_op()
    assert not sorted(set(wanted) - set(values))
    lonely = [
        f"{op} {attribute}"
        for op, attributes in wanted.items()
        for attribute in attributes
        if len(values[op][attribute]) < 2
    ]
    assert not lonely, "attributes with one value only"


def is_public_function(name: str, value: object) -> bool:
    # Classes and aliases of types begin with a capital letter.
    return callable(value) and name[0].islower()


def test_every_function_of_lax_is_used():
    """By name, somewhere in the corpus: a new version of JAX may bring new functions."""
    sources = "".join(
        path.read_text() for path in pathlib.Path(corpus.__file__).parent.glob("*.py")
    )
    public = [name for name, value in vars(jax.lax).items() if is_public_function(name, value)]
    assert len(public) > 200
    # The first few are spelled "reduce_" + name there; the last answer with a shape only.
    spelled = {f"reduce_{name}" for name in ("and", "max", "min", "or", "prod", "xor", "sum")}
    shapes = {"conv_general_shape_tuple", "conv_transpose_shape_tuple"}
    missing = [name for name in public if not re.search(rf"\b{name}\b", sources)]
    assert set(missing) <= spelled | shapes


def test_names_are_different():
    assert len(PROGRAMS) == len(corpus.programs())


@pytest.mark.parametrize("program", corpus.programs()[::10], ids=str)
def test_text_and_native_bytecode_lose_nothing(program):
    module = corpus.lower(program)
    text = corpus.generic_text(module)
    assert corpus.canonical(text) == text
    native = corpus.canonical(corpus.native_bytecode(module))
    # But for the end of a location's range if it begins at column 0, as generated code's may.
    assert native == re.sub(r"(:\d+:0) to :\d+\)", r"\1)", text)


@pytest.mark.parametrize("program", corpus.programs()[::10], ids=str)
def test_artifact_leaves_its_module_alone(program):
    if not program.portable:
        pytest.skip("StableHLO cannot write it")
    module = corpus.lower(program)
    text = corpus.generic_text(module)
    read = corpus.canonical(corpus.artifact(module))
    assert corpus.generic_text(module) == text
    assert corpus.canonical(read) == read


# A program, what its text has, and what is there instead after a trip through an artifact.
LOST = [
    ("lax_linear/dot", "precision_config = [#stablehlo<precision DEFAULT>", ""),
    ("text_attributes/dot_general-empty-precision", "precision_config = []", ""),
    ("text_attributes/gather-not-sorted", "indices_are_sorted = false", ""),
    ("text_attributes/scatter-false", "unique_indices = false", ""),
    ("text_attributes/sort-negative", "dimension = -1 : i64, is_stable = false", ""),
    ("text_attributes/convolution-defaults", "lhs_dilation = array<i64: 1, 1>", ""),
    ("text_attributes/convolution-defaults", "rhs_dilation = array<i64: 1, 1>", ""),
    ("text_attributes/convolution-defaults", "window_reversal = array<i1: false, false>", ""),
    ("text_attributes/convolution-defaults", "window_strides = array<i64: 1, 1>", ""),
    ("text_attributes/convolution-defaults", "padding = dense<0>", ""),
    ("text_attributes/reduce_window-defaults", "base_dilations = array<i64: 1, 1>", ""),
    ("text_attributes/reduce_window-defaults", "window_dilations = array<i64: 1, 1>", ""),
    ("text_attributes/cbrt-default", "result_accuracy", ""),
    ("text_attributes/custom_call-defaults", "api_version = 1 : i32", ""),
    ("text_attributes/custom_call-defaults", 'backend_config = ""', ""),
    ("text_attributes/custom_call-defaults", "called_computations = []", ""),
    ("text_attributes/custom_call-defaults", "has_side_effect = false", ""),
    ("text_attributes/custom_call-defaults", "output_operand_aliases = []", ""),
    ("text_attributes/custom_call-empty-dictionary", "backend_config = {}", ""),
    ("text_ops/cholesky-false", "lower = false", ""),
    ("text_ops/compare-notype", "compare_type", ""),
    ("text_ops/composite-defaults", "composite_attributes = {}", ""),
    ("text_ops/composite-defaults", "version = 0 : i32", ""),
    ("text_ops/infeed-nothing", "layout = []", ""),
    ("text_ops/send-false", "is_host_transfer = false", ""),
    ("transformations/no-argument", "arg_attrs = []", ""),
    # The end of a range in one line, if it begins at column 0. Native bytecode loses it as well.
    ("text_locations/location-range-from-zero", '"file.py":10:0 to :8', '"file.py":10:0)'),
    # The channel's number stays, its type does not; send and recv keep both.
    ("text_ops/all_reduce", "handle = 7, type = 1", "handle = 7, type = 0"),
    ("text_ops/collective_permute", "handle = 7, type = 1", "handle = 7, type = 0"),
    # A function that ends with stablehlo.return, as the comparators of approx_top_k do.
    ("lax_reductions/approx_max_k", '"stablehlo.return"', '"func.return"'),
    # Attributes of other dialects, in forms which VHLO has for its own purposes.
    ("text_locations/attribute-arrays-op", "array<i1: true, false>", "dense<[true, false]>"),
    ("text_locations/attribute-arrays-op", "array<i64: 3>", "dense<3> : tensor<1xi64>"),
    ("text_locations/attribute-symbols-op", "[@main", '["main"'),
    ("text_attributes/custom_call-dictionary", "d = array<i64: 1, 2>", "d = dense<[1, 2]>"),
]


@pytest.mark.parametrize("name, before, after", LOST)
def test_artifact_loses(name, before, after):
    module = corpus.lower(PROGRAMS[name])
    read = corpus.canonical(corpus.artifact(module))
    assert before in corpus.generic_text(module)
    assert before not in read
    assert after in read


def test_pretty_text_loses_empty_argument_attributes():
    module = corpus.lower(PROGRAMS["lax_linear/dot"])
    assert "arg_attrs = [{}" in corpus.generic_text(module)
    assert "arg_attrs" not in corpus.canonical(corpus.pretty_text(module))


def test_some_pretty_text_cannot_be_read_back():
    """An empty name of a custom call's target is printed as one that is not a name."""
    pretty = corpus.pretty_text(corpus.lower(PROGRAMS["text_attributes/custom_call-nothing"]))
    with pytest.raises(ir.MLIRError):
        corpus.canonical(pretty)
