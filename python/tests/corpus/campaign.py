"""Collects the modules that a whole Python test suite makes, and checks plimsoll on all of them.

    python -m corpus.campaign collect FOLDER [pytest arguments]   # run tests, keep their modules
    python -m corpus.campaign check FOLDER [--jobs N]             # plimsoll against jaxlib
    python -m corpus.campaign survey FOLDER                       # jaxlib against itself

Not a part of the test suite: a collection has thousands of modules and takes an hour to make.
`collect` keeps each different module once, as `HASH.mlirbc` (native bytecode) and `HASH.artifact`
(portable artifact, where StableHLO can write one). Modules that differ in locations only are one.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import hashlib
import multiprocessing
import pathlib
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from jaxlib.mlir import ir

from corpus import forms

NATIVE, ARTIFACT = ".mlirbc", ".artifact"
SECONDS_PER_MODULE = 60.0
SHOWN_OF_EACH_KIND = 5


class Collection:
    """A folder of modules, each there once."""

    def __init__(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.seen = {path.stem for path in folder.glob("*" + NATIVE)}
        self.lock = threading.Lock()

    def add(self, module: ir.Module) -> None:
        text = forms.generic_text(module, locations=False)
        digest = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:24]
        with self.lock:
            if digest in self.seen:
                return
            self.seen.add(digest)
        (self.folder / (digest + NATIVE)).write_bytes(forms.native_bytecode(module))
        try:
            portable = forms.artifact(module)
        except Exception:  # Not every dialect has a portable form; native bytecode is kept.
            return
        (self.folder / (digest + ARTIFACT)).write_bytes(portable)


def watch_jax(collection: Collection) -> None:
    """Sees every module twice: as it is lowered (exports too) and as it is compiled."""
    from jax._src import compiler
    from jax._src.interpreters import mlir

    lower, compile_ = mlir.lower_jaxpr_to_module, compiler.backend_compile_and_load

    def lower_and_keep(*args, **kwargs):
        result = lower(*args, **kwargs)
        collection.add(result.module)
        return result

    def keep_and_compile(backend, module, *args, **kwargs):
        collection.add(module)
        return compile_(backend, module, *args, **kwargs)

    mlir.lower_jaxpr_to_module = lower_and_keep
    compiler.backend_compile_and_load = keep_and_compile


def collect(folder: pathlib.Path, pytest_arguments: list[str]) -> int:
    import pytest

    collection = Collection(folder)
    before = len(collection.seen)
    watch_jax(collection)
    status = pytest.main(pytest_arguments)
    print(f"{len(collection.seen) - before} new modules, {len(collection.seen)} in all in {folder}")
    return int(status)


@dataclasses.dataclass
class Outcome:
    name: str
    kind: str  # "equal", or what went wrong
    detail: str = ""


def check_module(path: pathlib.Path) -> Iterator[Outcome]:
    """One stored file through plimsoll, against jaxlib's reading of the same; and its text."""
    import plimsoll.ir

    stored = path.read_bytes()
    sources: dict[str, str | bytes] = {"artifact" if path.suffix == ARTIFACT else "native": stored}
    if path.suffix == NATIVE:
        sources["text"] = forms.canonical(stored)
    for form, source in sources.items():
        name = f"{path.stem} {form}"
        try:
            expected = forms.canonical(source)
        except Exception as error:
            yield Outcome(name, "jaxlib cannot read its own " + form, str(error)[:400])
            continue
        try:
            text = str(plimsoll.ir.parse(source))
        except Exception as error:
            yield Outcome(name, f"{form}: plimsoll refuses", f"{type(error).__name__}: {error}")
            continue
        try:
            found = forms.canonical(text)
        except Exception as error:
            yield Outcome(name, f"{form}: jaxlib cannot read plimsoll's text", str(error)[:800])
            continue
        detail = forms.difference(expected, found)
        yield Outcome(name, f"{form}: differs" if detail else f"{form}: equal", detail)


def survey_module(path: pathlib.Path) -> Iterator[Outcome]:
    """What jaxlib's own round trips change: the reference has to be known before it is used."""
    module = forms.parse(path.read_bytes())
    text = forms.generic_text(module)
    for form, source in {"text": text, "native": forms.native_bytecode(module)}.items():
        detail = forms.difference(text, forms.canonical(source))
        yield Outcome(f"{path.stem} {form}", f"{form}: {'changed' if detail else 'kept'}", detail)
    portable = path.with_suffix(ARTIFACT)
    if not portable.exists():
        yield Outcome(f"{path.stem} artifact", "artifact: none")
        return
    try:
        read = forms.canonical(portable.read_bytes())
    except Exception as error:
        yield Outcome(f"{path.stem} artifact", "artifact: unreadable", str(error)[:400])
        return
    detail = forms.difference(text, read)
    yield Outcome(f"{path.stem} artifact", f"artifact: {'changed' if detail else 'kept'}", detail)
    again = forms.difference(read, forms.canonical(read))
    yield Outcome(f"{path.stem} artifact", "artifact as text: " + ("changed" if again else "kept"))


def serve(connection: Connection, job: Callable[[pathlib.Path], Iterator[Outcome]]) -> None:
    """A worker: one path in, its outcomes out, until the pipe closes."""
    while True:
        try:
            path = connection.recv()
        except EOFError:
            return
        try:
            outcomes = list(job(path))
        except Exception:
            outcomes = [Outcome(path.stem, "the checker failed", traceback.format_exc())]
        connection.send(outcomes)


class Worker:
    """A process of its own, so that a crash or a hang of the checked code costs one module."""

    def __init__(self, job: Callable[[pathlib.Path], Iterator[Outcome]]) -> None:
        self.job = job
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, self.job), daemon=True)
        self.process.start()
        other.close()

    def run(self, path: pathlib.Path) -> list[Outcome]:
        try:
            self.connection.send(path)
            if self.connection.poll(SECONDS_PER_MODULE):
                return self.connection.recv()
            kind = f"no answer after {SECONDS_PER_MODULE:.0f} s"
        except (EOFError, ConnectionError):
            self.process.join()
            kind = f"the process died (exit status {self.process.exitcode})"
        self.process.kill()
        self.start()
        return [Outcome(path.stem, kind)]


def run_all(
    folder: pathlib.Path,
    suffixes: tuple[str, ...],
    job: Callable[[pathlib.Path], Iterator[Outcome]],
    jobs: int,
) -> list[Outcome]:
    """The job over every file of a folder that has one of the suffixes, in `jobs` processes."""
    paths = sorted(path for path in folder.iterdir() if path.suffix in suffixes)
    waiting = iter(paths)
    lock = threading.Lock()
    outcomes: list[Outcome] = []

    def drive() -> None:
        worker = Worker(job)
        while True:
            with lock:
                path = next(waiting, None)
            if path is None:
                return
            results = worker.run(path)
            with lock:
                outcomes.extend(results)

    threads = [threading.Thread(target=drive) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(paths)} files in {folder}")
    return outcomes


def report(outcomes: list[Outcome]) -> int:
    """Prints the counts of each kind and the first of each kind of failure; counts the failures."""
    by_kind: dict[str, list[Outcome]] = collections.defaultdict(list)
    for outcome in outcomes:
        by_kind[outcome.kind].append(outcome)
    for kind, same in sorted(by_kind.items()):
        print(f"{len(same):8} {kind}")
    failures = {k: v for k, v in by_kind.items() if not k.endswith(("equal", "kept", "none"))}
    for kind, same in sorted(failures.items()):
        for outcome in same[:SHOWN_OF_EACH_KIND]:
            print(f"\n{outcome.name}: {kind}\n{outcome.detail}")
    return sum(map(len, failures.values()))


def changed_attributes(outcomes: list[Outcome]) -> None:
    """For a survey: the changed lines by op, since one cause changes many modules."""
    causes: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        for line in outcome.detail.splitlines():
            if op := re.search(r'^[-+] .*?"([\w.-]+)"\(', line):
                causes[f"{outcome.kind} {line[0]} {op[1]}"] += 1
    for cause, count in causes.most_common(60):
        print(f"{count:8} {cause}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="corpus.campaign", description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["collect", "check", "survey"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options, rest = parser.parse_known_args(arguments)
    if options.command == "collect":
        return collect(options.folder, rest)
    if options.command == "survey":
        outcomes = run_all(options.folder, (NATIVE,), survey_module, options.jobs)
        report(outcomes)
        changed_attributes(outcomes)
        return 0
    return report(run_all(options.folder, (NATIVE, ARTIFACT), check_module, options.jobs)) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
