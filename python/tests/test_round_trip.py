"""Every program of the corpus through plimsoll and back, with jaxlib as the judge.

What jaxlib reads from plimsoll's text must be what it reads from the program itself, locations
included.
"""

import pytest

import corpus
import plimsoll
import plimsoll.ir
from corpus import Program, forms

PROGRAMS = corpus.programs()
# Pretty text is read by jaxlib in a process of its own, which takes most of a second: a sample,
# with what such a process could get wrong.
DELICATE = ("text_types/uniform_quantize-axis", "text_locations/constant-resource")
SAMPLE = [p for k, p in enumerate(PROGRAMS) if k % 100 == 0 or p.name in DELICATE]


def through_plimsoll(source: str | bytes) -> str:
    return str(plimsoll.ir.parse(source))


def check(program: Program, form: str, source: str | bytes) -> None:
    """Plimsoll's text of a source has to be, for jaxlib, what the source itself is."""
    try:
        text = through_plimsoll(source)
    except plimsoll.PlimsollError as refusal:
        if program.beyond and refusal.code == "PL103":
            return
        raise
    difference = forms.difference(corpus.canonical(source), corpus.canonical(text))
    assert not difference, f"{form}:\n{difference}"


def test_there_are_enough_programs():
    assert len([p for p in PROGRAMS if p.function is not None]) >= 400
    assert len([p for p in PROGRAMS if p.text]) >= 100


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_artifact_native_bytecode_and_text(program):
    module = corpus.lower(program)
    if program.portable:
        check(program, "artifact", corpus.artifact(module))
    check(program, "native bytecode", corpus.native_bytecode(module))
    check(program, "text", corpus.generic_text(module))


@pytest.mark.parametrize("program", [p for p in PROGRAMS if not p.beyond][::7], ids=str)
def test_own_text_is_a_fixpoint(program):
    once = through_plimsoll(corpus.generic_text(corpus.lower(program)))
    assert not forms.difference(once, through_plimsoll(once))


@pytest.mark.parametrize("program", SAMPLE, ids=str)
def test_pretty_text(program):
    check(program, "pretty text", corpus.pretty_text(corpus.lower(program)))
