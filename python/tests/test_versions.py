"""Artifacts of every version of StableHLO that is promised to be readable, and of those before."""

import pytest

import corpus
import plimsoll
import plimsoll.ir
from corpus import forms

NEWEST_MINOR = int(forms.CURRENT_VERSION.split(".")[1])
VERSIONS = [f"1.{minor}.0" for minor in range(NEWEST_MINOR + 1)]
PROGRAMS = [p for p in corpus.programs() if p.portable and not p.beyond]
# The ops and attributes one by one, since these are what changes between versions, and some
# programs of every other kind.
SUBSET = [p for p in PROGRAMS if p.text] + [p for p in PROGRAMS if p.function][::25]


def versions_of(program) -> dict[str, bytes]:
    """The program's artifacts, one of those that differ in nothing but the version's number.

    A version that lacks an op, an attribute or a type refuses to write it.
    """
    module = corpus.lower(program)
    different: dict[bytes, tuple[str, bytes]] = {}
    for version in VERSIONS:
        try:
            artifact = corpus.artifact(module, version)
        except ValueError:
            continue
        different.setdefault(artifact.replace(version.encode(), b""), (version, artifact))
    return dict(different.values())


@pytest.mark.parametrize("program", SUBSET, ids=str)
def test_each_version_reads_as_jaxlib_reads_it(program):
    artifacts = versions_of(program)
    assert artifacts
    for version, artifact in artifacts.items():
        found = corpus.canonical(str(plimsoll.ir.parse(artifact)))
        difference = forms.difference(corpus.canonical(artifact), found)
        assert not difference, f"version {version}:\n{difference}"


def addition(version: str) -> bytes:
    (program,) = (p for p in PROGRAMS if p.name == "text_ops/add")
    return corpus.artifact(corpus.lower(program), version)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_read(version):
    artifact = addition(version)
    assert f"StableHLO_v{version}".encode() in artifact
    assert corpus.canonical(str(plimsoll.ir.parse(artifact))) == corpus.canonical(artifact)


@pytest.mark.parametrize("version", ["0.9.0", "0.20.0"])
def test_older_versions_are_not_understood(version):
    artifact = addition(version)
    with pytest.raises(plimsoll.PlimsollError, match=f"not understood.*{version}") as caught:
        plimsoll.ir.parse(artifact)
    assert caught.value.code == "PL103"
