"""Every program of the corpus through plimsoll and back, with jaxlib as the judge.

What jaxlib reads from plimsoll's text must be what it reads from the program itself, locations
included.
"""

import pytest

import corpus
import plimsoll.ir
from corpus import forms

PROGRAMS = corpus.programs()
# jaxlib reads native bytecode and pretty text for plimsoll in a process of its own, which takes
# most of a second: a sample, with what such a process could get wrong.
DELICATE = ("text_types/uniform_quantize-axis", "text_locations/constant-resource")
SAMPLE = [p for k, p in enumerate(PROGRAMS) if k % 50 == 0 or p.name in DELICATE]


def through_plimsoll(source: str | bytes) -> str:
    return str(plimsoll.ir.parse(source))


def check(form: str, source: str | bytes, expected: str) -> None:
    difference = forms.difference(expected, corpus.canonical(through_plimsoll(source)))
    assert not difference, f"{form}:\n{difference}"


def test_there_are_enough_programs():
    assert len([p for p in PROGRAMS if p.function is not None]) >= 400
    assert len([p for p in PROGRAMS if p.text]) >= 100


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_artifact_and_text(program):
    module = corpus.lower(program)
    text = corpus.generic_text(module)
    if program.portable:
        artifact = corpus.artifact(module)
        check("artifact", artifact, corpus.canonical(artifact))
    check("text", text, text)


@pytest.mark.parametrize("program", PROGRAMS[::7], ids=str)
def test_own_text_is_a_fixpoint(program):
    once = through_plimsoll(corpus.generic_text(corpus.lower(program)))
    assert not forms.difference(once, through_plimsoll(once))


@pytest.mark.parametrize("program", SAMPLE, ids=str)
def test_native_bytecode(program):
    module = corpus.lower(program)
    check("native bytecode", corpus.native_bytecode(module), corpus.generic_text(module))


@pytest.mark.parametrize("program", SAMPLE, ids=str)
def test_pretty_text(program):
    pretty = corpus.pretty_text(corpus.lower(program))
    check("pretty text", pretty, corpus.canonical(pretty))
