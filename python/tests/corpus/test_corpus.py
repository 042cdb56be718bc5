"""The corpus itself: what it covers, and what jaxlib's own round trips do to it.

The second part is written down as tests because the expectations of the round-trip tests rest on it.
"""

import collections
import re

import corpus
import jax.lax
import pytest
from corpus import forms
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import _stablehlo_ops_gen

PROGRAMS = {program.name: program for program in corpus.programs()}


def attributes_by_op() -> dict[str, set[str]]:
    """All ops of the dialect, with the names of their attributes, from jaxlib's own tables."""
    with open(_stablehlo_ops_gen.__file__) as file:
        source = file.read()
    ops: dict[str, set[str]] = {}
    for name, body in re.findall(
        r'OPERATION_NAME = "(stablehlo\.[^"]+)"(.*?)(?=\nclass |\Z)', source, re.DOTALL
    ):
        named = re.findall(r'attributes\["(\w+)"\]', body)
        flags = re.findall(r'"(\w+)" (?:not )?in self\.operation\.attributes', body)
        ops.setdefault(name, set()).update(named, flags)
    return ops


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
    found: dict[str, dict[str, set[str]]] = collections.defaultdict(
        lambda: collections.defaultdict(set)
    )
    for program in PROGRAMS.values():
        for op in walk(corpus.lower(program).operation):
            for attribute in wanted.get(op.name, ()):
                present = attribute in op.attributes
                # jaxlib's Python cannot hold every constant.
                text = str(op.attributes[attribute]) if op.name != "stablehlo.constant" else "any"
                found[op.name][attribute].add(text if present else "")
            found[op.name]
    return found


def test_every_op_and_attribute_is_there(values):
    wanted = attributes_by_op()
    assert not sorted(set(wanted) - set(values))
    lonely = [
        f"{op} {attribute}"
        for op, attributes in wanted.items()
        for attribute in attributes
        if len(values[op][attribute]) < 2 and op != "stablehlo.constant"
    ]
    assert not lonely, "attributes with one value only"
