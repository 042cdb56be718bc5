"""Plimsoll inside JAX: every program that JAX compiles goes through here.

JAX compiles in one place for all of its ways and backends, `compiler.backend_compile_and_load`. The
hook replaces that function, the one around it that asks the persistent cache first, and the part of
the cache's key that JAX leaves to others.
"""

import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll import (
    algebra,
    allocator,
    compile_options,
    kernels,
    record,
    refusal,
    roundtrip,
    shrink,
    trials,
    tuning,
    xla_flags,
)
from plimsoll._native import VERSION
from plimsoll.check import Verdict, check
from plimsoll.errors import PlimsollError
from plimsoll.limits import Limit, environment_limit
from plimsoll.log import TRACE, logger, warn_once
from plimsoll.need import NOTHING_HIDDEN, Need, hidden_memory_of, need_of
from plimsoll.source import user_line
from plimsoll.units import byte_text

# The functions of JAX that are replaced, and the parameters that are relied on.
_COMPILE = ("backend", "module", "executable_devices", "options", "host_callbacks")
_COMPILE_CACHED = (
    "backend",
    "computation",
    "devices",
    "compile_options",
    "host_callbacks",
    "executable_devices",
    "pgle_profiler",
)

# XLA's answer for a program of this many bytes takes about half a millisecond.
_LONG_TEXT = 25_000

_lock = threading.RLock()
# Set once the hook is in place: jax.make_user_context's object, whose value is the limit.
_context: Any = None
# Read once: what was compiled under it is kept, so it cannot change under a running process.
_environment_limit: Limit | None = None
_fault: str | None = None
_thread = threading.local()


@dataclass(frozen=True)
class Explained:
    """In the limit's place while a program is explained: no cache knows it, so it is compiled."""

    limit: Limit | None
    number: int


def is_off() -> bool:
    """True if the user turned Plimsoll off."""
    return os.environ.get("PLIMSOLL", "").strip().lower() in ("off", "0", "false", "no")


def state() -> str:
    """What `plimsoll doctor` says of the hook."""
    if is_off():
        return "off (PLIMSOLL=off)"
    if _fault is not None:
        return f"not installed: {_fault}"
    return "not installed yet" if _context is None else "installed"


def take_flags_early() -> None:
    """Takes eXLA's flags out of XLA_FLAGS, if XLA cannot have read it yet."""
    if not is_off() and "jaxlib.xla_client" not in sys.modules:
        xla_flags.take_own_flags()


def install() -> None:
    """Puts the hook into JAX, once. Raises only if a limit is asked for and cannot be held."""
    global _fault, _environment_limit
    if is_off():
        return
    with _lock:
        if _context is not None:
            return
        limit = _environment_limit = environment_limit()
        xla_flags.take_own_flags()
        xla_flags.bounds()
        try:
            _replace_functions()
        except Exception as error:
            _fault = f"{type(error).__name__}: {error}"
            if limit is not None:
                raise PlimsollError(
                    "PL302", f"{limit} cannot be held: this JAX is not understood: {error}"
                ) from error
            warn_once(f"this JAX is not understood, so Plimsoll stays out of it: {error}")
            return
        allocator.limit_gpu_allocator(limit)


def _replace_functions() -> None:
    global _context
    import jax
    from jax._src import cache_key, compiler, traceback_util

    for module, name, expected in (
        (compiler, "backend_compile_and_load", _COMPILE),
        (compiler, "compile_or_get_cached", _COMPILE_CACHED),
        (cache_key, "custom_hook", ()),
    ):
        found = tuple(inspect.signature(getattr(module, name)).parameters)
        if found != expected:
            raise TypeError(
                f"JAX {jax.__version__}: {name} takes {', '.join(found) or 'nothing'},"
                f" expected {', '.join(expected) or 'nothing'}"
            )
    # JAX hides its own lines from users' tracebacks, and these with them.
    traceback_util.register_exclusion(__file__)
    _context = jax.make_user_context(None)
    compiler.backend_compile_and_load = _compile(compiler.backend_compile_and_load)
    compiler.compile_or_get_cached = _compile_cached(compiler.compile_or_get_cached, compiler)
    cache_key.custom_hook = _cache_key(cache_key.custom_hook)


def limit_context() -> Any:
    """JAX's context whose value is the limit; None if Plimsoll is off or JAX is not understood."""
    install()
    if _fault is not None:
        raise PlimsollError("PL302", f"no limit can be held: {_fault}")
    return _context


def limit_in_force() -> Limit | None:
    """The limit for what this thread compiles now; None if it is what the device has."""
    narrower = None if _context is None else _context.value
    if isinstance(narrower, Explained):
        return narrower.limit
    return narrower if narrower is not None else _environment_limit


def _is_explaining() -> bool:
    return _context is not None and isinstance(_context.value, Explained)


def _cache_key(original: Callable[[], str]) -> Callable[[], str]:
    @functools.wraps(original)
    def custom_hook() -> str:
        limit = limit_in_force()
        # What the device has differs from run to run: what was kept is checked when it is found.
        name = "device" if limit is None else limit.key
        flags = [os.environ.get(variable, "") for variable in xla_flags.VARIABLES.values()]
        settings = f"{flags} {roundtrip.key()} {algebra.key()} {trials.key()}"
        return f"{original()} plimsoll {VERSION} limit {name} {settings}"

    return custom_hook


def _compile(original: Callable) -> Callable:
    @functools.wraps(original)
    def backend_compile_and_load(backend, module, executable_devices, options, host_callbacks):
        started = time.perf_counter()
        program, simplification = _rewritten(module, backend.platform)
        limit = limit_in_force() if backend.platform == "gpu" else None
        may_be_over = limit is not None and _guarded(
            lambda: tuning.may_be_over(backend, module, limit),
            "whether a program may be over the limit could not be found out",
            otherwise=True,
        )
        seconds = time.perf_counter() - started

        def compile_program(program: Any, options: Any = options) -> Any:
            def compile_once() -> Any:
                return original(backend, program, executable_devices, options, host_callbacks)

            if limit is None:
                return compile_once()
            return tuning.compile_within(
                compile_once,
                options,
                lambda executable: _fits(executable, module),
                may_be_over=may_be_over,
            )

        try:
            executable = compile_program(program)
        except Exception as error:
            if program is module:
                raise
            _report_fault("XLA refused a program that was changed", error)
            program = module
            executable = compile_program(module)
        if program is not module and simplification is not None:
            chosen = algebra.choose(executable, simplification, lambda: compile_program(module))
            if chosen is executable:
                chosen = _guarded(
                    lambda: trials.faster(
                        module,
                        executable,
                        simplification,
                        lambda: compile_program(module),
                        may_try=limit_in_force() is None and not _is_explaining(),
                    ),
                    "a program could not be tried out",
                    otherwise=executable,
                )
            program = program if chosen is executable else module
            executable = chosen
        executable = _judge(
            executable,
            module,
            is_changed=program is not module,
            simplification=simplification,
            seconds=seconds,
            compile_pieces=lambda pieces, plan: compile_options.compile_pieces(
                lambda chosen: compile_program(pieces, chosen),
                options,
                backend.platform,
                has_library_sums=plan["wants_library_sums"],
            ),
            began=started,
        )
        _thread.judged = id(executable)
        return executable

    return backend_compile_and_load


def _compile_cached(original: Callable, compiler: Any) -> Callable:
    @functools.wraps(original)
    def compile_or_get_cached(
        backend,
        computation,
        devices,
        compile_options,
        host_callbacks,
        executable_devices,
        pgle_profiler=None,
    ):
        _thread.judged = None
        if _is_explaining():
            return compiler.backend_compile_and_load(
                backend, computation, executable_devices, compile_options, host_callbacks
            )
        # What the persistent cache holds may call them.
        kernels.are_there(backend.platform)
        executable = original(
            backend,
            computation,
            devices,
            compile_options,
            host_callbacks,
            executable_devices,
            pgle_profiler,
        )
        # What was compiled just now has been judged; what the persistent cache held has not.
        if id(executable) != _thread.judged:
            if _judge(executable, computation) is None:
                executable = compiler.backend_compile_and_load(
                    backend, computation, executable_devices, compile_options, host_callbacks
                )
        _thread.judged = None
        return executable

    return compile_or_get_cached


def _rewritten(module: Any, platform: str) -> tuple[Any, dict[str, Any] | None]:
    """The program that XLA gets, and what algebra did; None if it was not asked.

    It is `module` itself unless it is to be changed.
    """

    def rewritten() -> tuple[Any, dict[str, Any] | None]:
        if algebra.is_for_speed():
            return algebra.simplify(module, platform)
        return roundtrip.rewrite(module) if roundtrip.is_forced() else module, None

    return _guarded(
        rewritten,
        "a program could not be changed and goes to XLA as it is",
        otherwise=(module, None),
    )


def _guarded(function: Callable[[], Any], what: str, otherwise: Any) -> Any:
    """What `function` returns, or `otherwise` if it fails, which is told once."""
    try:
        return function()
    except Exception as error:
        _report_fault(what, error)
        return otherwise


def _judge(
    executable: Any,
    module: Any,
    *,
    is_changed: bool = False,
    simplification: dict[str, Any] | None = None,
    seconds: float = 0.0,
    compile_pieces: Callable[[Any, dict[str, Any]], Any] | None = None,
    began: float = 0.0,
) -> Any:
    """Checks a compiled program against the limit, and keeps a record of it.

    One that does not fit is cut into pieces, which `compile_pieces` compiles; without that, it
    comes from the cache. Returns the program that fits, None for one from the cache that does not,
    and raises a MemoryLimitError for one that cannot be made to fit. `seconds` is what Plimsoll
    took for it already, `began` when its compilation began.
    """
    started = time.perf_counter()
    limit = limit_in_force()
    need, at_most, verdict = _verdict(executable, module, limit)
    fits = verdict is None or verdict.fits
    from_cache = compile_pieces is None
    if not fits and from_cache:
        return None
    name = refusal.module_name(module)
    source = user_line()
    outcome = before = None
    bounds = {} if from_cache else xla_flags.bounds()
    if not fits or _has_too_large(need, bounds):
        seconds += time.perf_counter() - started
        outcome = _shrunk(executable, module, need, verdict, compile_pieces, bounds)
        if outcome.is_changed:
            before, need_before = need, verdict.need
            executable, need, verdict = outcome.executable, outcome.need, outcome.verdict
            fits, is_changed = verdict.fits, True
            if fits and not _is_explaining():
                since_began = time.perf_counter() - began
                logger.info(shrink.log_line(name, need_before, outcome, since_began))
        seconds += outcome.seconds
        started = time.perf_counter()
    allowance = verdict.allowance if verdict else None
    compilation = record.Compilation(
        name=name,
        source=source,
        platform=executable.client.platform if hasattr(executable, "client") else "",
        need=need,
        before=before,
        at_most=at_most,
        held=verdict.held if verdict else None,
        allowed=allowance.bytes if allowance else None,
        limit=str(limit) if limit else None,
        is_changed=is_changed,
        is_refused=not fits,
        from_cache=from_cache,
        compilations=outcome.compilations if outcome else 0 if from_cache else 1,
        plan=outcome.plan if outcome else None,
        simplification=simplification,
        seconds=seconds + time.perf_counter() - started,
    )
    record.add(compilation)
    logger.debug(
        "%s needs %s, allowed are %s; %.2f ms in Plimsoll; %s",
        name,
        byte_text(need.total if need else at_most),
        allowance or "?",
        compilation.seconds * 1e3,
        source,
    )
    if not fits:
        raise refusal.describe(compilation, executable, verdict)
    return executable


def _has_too_large(need: Need | None, bounds: dict[str, int]) -> bool:
    """True if a program that fits may make a value that is larger than the user allows."""
    if need is None or "most_value" not in bounds:
        return False
    return need.temporaries + need.scratch > bounds["most_value"]


def _shrunk(
    executable: Any,
    module: Any,
    need: Need,
    verdict: Verdict,
    compile_pieces: Callable[[Any, dict[str, Any]], Any],
    bounds: dict[str, int],
) -> shrink.Outcome:
    unchanged = shrink.Outcome(executable, need, verdict, is_changed=False)
    return _guarded(
        lambda: shrink.shrink(
            module,
            unchanged,
            compile_pieces,
            lambda executable: _verdict(executable, module, limit_in_force(), is_exact=True),
            bounds,
            may_try=not _is_explaining(),
        ),
        "a program over its limit could not be cut",
        otherwise=unchanged,
    )


def _fits(executable: Any, module: Any) -> bool:
    _, _, verdict = _verdict(executable, module, limit_in_force())
    return verdict is None or verdict.fits


def _verdict(
    executable: Any, module: Any, limit: Limit | None, *, is_exact: bool = False
) -> tuple[Need | None, int | None, Verdict | None]:
    """What a compiled program needs, at most needs, and whether it fits; None where not known.

    XLA takes 20 ns for each byte of a program to say what it needs. For a long one, a bound from
    its text decides where it can, and XLA is not asked unless the answer has to be exact.
    """
    hidden = _guarded(
        lambda: hidden_memory_of(executable),
        "what XLA does not count of a program could not be found out",
        otherwise=NOTHING_HIDDEN,
    )
    at_most = hidden.most_needed if hidden and hidden.text_size else None
    is_exact = is_exact or record.is_wanted() or _is_explaining() or bool(xla_flags.bounds())
    if hidden and hidden.text_size > _LONG_TEXT and not is_exact:
        verdict = _checked(at_most, executable, module, limit)
        if verdict.fits:
            return None, at_most, verdict
    need = need_of(executable, hidden)
    if need is None:
        return None, at_most, None
    return need, at_most, _checked(need.total, executable, module, limit)


def _checked(need: int, executable: Any, module: Any, limit: Limit | None) -> Verdict:
    types = functools.partial(refusal.argument_types, module)
    # Programs that are compiled for devices elsewhere have none here.
    devices = executable.local_devices() if hasattr(executable, "local_devices") else []
    try:
        return check(need, devices, limit, types)
    except Exception as error:
        _report_fault("what the process holds could not be found out", error)
        # The limit is held to what the program itself needs.
        return check(need, [], limit, types)


def _report_fault(what: str, error: Exception) -> None:
    """Tells of a fault of our own once; PLIMSOLL_LOG=3 shows where it is."""
    shows_traceback = logger.isEnabledFor(TRACE)
    hint = "" if shows_traceback else "; PLIMSOLL_LOG=3 shows where"
    warn_once(
        f"{what}: {type(error).__name__}: {error}{hint}",
        exc_info=error if shows_traceback else None,
    )
