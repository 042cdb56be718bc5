"""The graph from Python."""

import gc
import mmap
import pickle

import jax
import jax.numpy as jnp
import pytest
from jax import export

import plimsoll
from conftest import product
from corpus import forms
from plimsoll import ir


@pytest.fixture
def module(artifact):
    return ir.parse(artifact)


def find(module, name):
    return next(op for op in module.walk() if op.name == name)


def lower(function, *arguments):
    return ir.parse(forms.artifact(jax.jit(function).lower(*arguments).compiler_ir()))


@pytest.mark.parametrize(
    "form",
    [
        "artifact",
        "native bytecode",
        "generic text",
        "pretty text",
        "pretty text with locations",
    ],
)
def test_reads_every_form_as_jaxlib_does(program_forms, form):
    program = program_forms[form]
    assert forms.canonical(str(ir.parse(program))) == forms.canonical(program)


def test_text_without_locations(module):
    assert "loc(" in module.text()
    assert "loc(" not in module.text(locations=False)
    assert module.text_bytes().decode() == module.text() == str(module)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_reads_any_buffer(artifact, kind):
    assert ir.parse(kind(artifact)).functions


def test_reads_a_mapped_file(artifact, tmp_path):
    path = tmp_path / "program"
    path.write_bytes(artifact)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert ir.parse(mapped).text() == ir.parse(artifact).text()


def test_functions(module):
    (main,) = module.functions
    assert main.name == "func.func"
    assert main.symbol == "main"
    assert main.parent == module.op
    assert module.op.parent is None
    assert [str(argument.type) for argument in main.body.arguments] == [
        "tensor<8x3xf32>",
        "tensor<8xf32>",
    ]


def test_walks_in_the_order_of_the_text(module):
    names = [op.name for op in module.walk()]
    assert names[0] == "func.func"
    assert names[-1] == "func.return"
    # The ops of a region come right after the op that holds it.
    reduce = names.index("stablehlo.reduce")
    assert names[reduce + 1 : reduce + 3] == ["stablehlo.add", "stablehlo.return"]
    text = module.text(locations=False)
    positions = []
    for name in names:
        positions.append(text.index(f'"{name}"', positions[-1] + 1 if positions else 0))
    assert positions == sorted(positions)


def test_operands_results_and_users(module):
    exponential = find(module, "stablehlo.exponential")
    (operand,) = exponential.operands
    (result,) = exponential.results
    assert operand.owner.name == "stablehlo.negate"
    assert result.owner == exponential
    assert result.index == 0
    assert operand.users == [exponential]
    (user,) = result.users
    assert user.name == "stablehlo.dot_general"
    assert user.operands.index(result) == 0


def test_a_use_counts_once_for_each_operand(module):
    square = find(module, "stablehlo.multiply")
    assert square.operands[0] == square.operands[1]
    assert square.operands[0].users == [square, square]


def test_arguments_belong_to_a_block(module):
    block = module.functions[0].body
    for index, argument in enumerate(block.arguments):
        assert argument.owner == block
        assert argument.index == index
    assert block.parent == module.functions[0]
    assert [op.block for op in block] == [block] * len(list(block))


def test_regions(module):
    reduce = find(module, "stablehlo.reduce")
    ((block,),) = reduce.regions
    assert [str(argument.type) for argument in block.arguments] == ["tensor<f32>", "tensor<f32>"]
    assert [op.name for op in block] == ["stablehlo.add", "stablehlo.return"]
    assert reduce.body == block
    assert next(iter(block)).parent == reduce
    with pytest.raises(LookupError):
        _ = find(module, "stablehlo.add").body


def test_attributes_are_python_values(module):
    broadcast = find(module, "stablehlo.broadcast_in_dim")
    assert broadcast.attributes["broadcast_dimensions"] == [0, 2]
    assert broadcast.attribute_text("broadcast_dimensions") == "array<i64: 0, 2>"
    dimensions = find(module, "stablehlo.dot_general").attributes["dot_dimension_numbers"]
    assert dimensions["lhs_contracting_dimensions"] == [1]
    assert dimensions["rhs_contracting_dimensions"] == [0]
    assert "dense<0.0" in find(module, "stablehlo.constant").attributes["value"]
    assert module.op.attributes["mhlo.num_replicas"] == 1
    with pytest.raises(KeyError):
        broadcast.attribute_text("no_such_attribute")


def test_locations_name_the_users_line(module):
    exponential = find(module, "stablehlo.exponential")
    assert "conftest.py" in exponential.location
    line = product.__code__.co_firstlineno + 2
    assert exponential.source == f"conftest.py:{line}"


def test_types(module):
    points, _ = module.functions[0].body.arguments
    assert points.type == ir.Type("tensor<8x3xf32>", "tensor", (8, 3), "f32", 96)
    scalar = find(module, "stablehlo.constant").results[0].type
    assert (scalar.shape, scalar.bytes) == ((), 4)


def test_dynamic_dimensions_are_none():
    (size,) = export.symbolic_shape("n")
    argument = jax.ShapeDtypeStruct((size, 3), "float32")
    exported = export.export(jax.jit(lambda x: jnp.sum(x, axis=1)))(argument)
    module = ir.parse(bytes(exported.mlir_module_serialized))
    types = [value.type for op in module.walk() for value in op.results]
    dynamic = [type for type in types if type.shape and None in type.shape]
    assert dynamic
    assert {type.bytes for type in dynamic} == {None}


def test_equal_handles_are_one_thing(module):
    first, second = (find(module, "stablehlo.exponential") for _ in range(2))
    assert first is not second
    assert first == second
    assert len({first, second}) == 1
    assert first != find(module, "stablehlo.negate")
    assert first != find(ir.parse(str(module)), "stablehlo.exponential")


def test_a_handle_keeps_its_module_alive(artifact):
    # A copy of its own, so that nothing but the module can keep it.
    op = find(ir.parse(bytearray(artifact)), "stablehlo.constant")
    gc.collect()
    assert op.name == "stablehlo.constant"
    assert "dense<0.0" in op.attribute_text("value")
    assert "stablehlo.exponential" in op.module.text()


def test_peak_is_what_lives_at_the_worst_moment():
    peak = lower(lambda x: jnp.exp(x @ x.T).sum(), jnp.ones((100, 3))).peak()
    # The matrix, and the first stage of its sum.
    assert [value["bytes"] for value in peak["values"]] == [100 * 100 * 4, 4 * 4 * 4]
    assert peak["bytes"] == 40_064
    assert peak["values"][0]["type"] == "tensor<100x100xf32>"
    assert peak["source"].startswith("test_ir.py:")


def test_compiling_invalidates_handles(module):
    op = find(module, "stablehlo.exponential")
    module.compile()
    with pytest.raises(ReferenceError):
        _ = op.name
    assert find(module, "stablehlo.exponential").name == "stablehlo.exponential"


def test_compiling_refuses_an_unknown_step(module):
    with pytest.raises(plimsoll.PlimsollError, match="no_such_step") as raised:
        module.compile(stop_after="no_such_step")
    assert raised.value.code == "PL204"


def test_verifies(module):
    module.verify()


def test_an_op_prints_on_its_own(module):
    assert str(find(module, "stablehlo.exponential")).startswith("%")
    assert '"stablehlo.exponential"' in str(find(module, "stablehlo.exponential"))


def test_repr_is_readable(module):
    exponential = find(module, "stablehlo.exponential")
    assert "stablehlo.exponential" in repr(exponential)
    assert "tensor<8x8xf32>" in repr(exponential.results[0])
    assert "1 functions" in repr(module)


def test_an_analysis_in_python():
    """What the interface is for: the bytes that a product of matrices reads and writes."""
    x = jax.ShapeDtypeStruct((128, 64), "float32")
    y = jax.ShapeDtypeStruct((64, 32), "float32")
    module = lower(lambda x, y: x @ y, x, y)
    traffic = sum(
        value.type.bytes
        for op in module.walk()
        if op.name == "stablehlo.dot_general"
        for value in (*op.operands, *op.results)
    )
    assert traffic == 4 * (128 * 64 + 64 * 32 + 128 * 32)


def test_errors_say_whose_they_are():
    with pytest.raises(plimsoll.PlimsollError) as raised:
        ir.parse(b"ML\xefR", name="broken.mlirbc")
    error = raised.value
    assert error.code == "PL101"
    assert error.is_user_mistake
    assert str(error) == f"PL101: {error.message}"
    assert "broken.mlirbc" in error.message
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert not plimsoll.PlimsollError("PL301", "the engine failed").is_user_mistake


def test_importing_is_cheap():
    """No JAX and no numpy, so that `import plimsoll` costs nothing that the user notices."""
    import subprocess
    import sys

    program = "import plimsoll, sys; assert not {'jax', 'jaxlib', 'numpy'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", program], check=True)
