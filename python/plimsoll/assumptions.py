"""`plimsoll.assume`: what the user knows of an array and XLA does not.

The statement travels in the program as an op that gives its operand back, so that it means nothing
to whoever does not know it. Rules of algebra ask for it (docs/rules.md).
"""

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.source import user_line

if TYPE_CHECKING:
    import jax
    import numpy as np

# The name by which the core knows the op (analysis/properties.h).
_OP = "plimsoll.assume"
# How far from it numbers may be, in units of their last place times the matrix's size.
_TOLERANCE = 100


def assume(x: "jax.Array", *properties: str) -> "jax.Array":
    """`x` itself, with the statement that it has these properties, such as "symmetric".

    Of a matrix, or of each matrix of a batch: "symmetric", "positive semidefinite", "positive
    definite", "diagonal", "identity", "lower triangular", "upper triangular", "orthogonal",
    "one-hot" and "permutation". Of any array: "non-negative", "positive", "integer-valued" and
    "sorted". With PLIMSOLL_CHECK=1 it is checked when the program runs.
    """
    for name in properties:
        if name not in _CHECKS:
            known = ", ".join(_CHECKS)
            raise PlimsollError(
                "PL204", f"plimsoll.assume: no property {name!r}; there are {known}"
            )
        if name in _OF_MATRICES and getattr(x, "ndim", 0) < 2:
            raise PlimsollError("PL204", f"plimsoll.assume: {name!r} is said of a matrix")
        x = _primitive().bind(x, property=name)
        if os.environ.get("PLIMSOLL_CHECK") == "1":
            _check_at_run_time(x, name)
    return x


def _check_at_run_time(x: Any, name: str) -> None:
    import jax

    def check(value: "np.ndarray", line: str) -> None:
        if not _CHECKS[name](value):
            where = f" ({line})" if line else ""
            raise PlimsollError("PL204", f"plimsoll.assume: an array is not {name}{where}")

    jax.debug.callback(functools.partial(check, line=user_line()), x)


@functools.cache
def _primitive() -> Any:
    from jax.extend import core
    from jax.interpreters import ad, batching, mlir

    primitive = core.Primitive("plimsoll_assume")
    primitive.def_impl(lambda x, *, property: x)
    primitive.def_abstract_eval(lambda x, *, property: x)
    # Tangents need not have the property, and cotangents neither.
    ad.primitive_jvps[primitive] = lambda primals, tangents, *, property: (
        primitive.bind(*primals, property=property),
        tangents[0],
    )
    batching.primitive_batchers[primitive] = _batched
    mlir.register_lowering(primitive, _lower)
    return primitive


def _batched(arguments: tuple, dimensions: tuple, *, property: str) -> tuple[Any, int]:
    import jax.numpy as jnp

    # The last two dimensions are the matrix.
    x = jnp.moveaxis(arguments[0], dimensions[0], 0)
    return _primitive().bind(x, property=property), 0


def _lower(context: Any, x: Any, *, property: str) -> Any:
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import func, hlo

    module = context.module_context
    with ir.InsertionPoint(module.module.body):
        identity = func.FuncOp(
            "plimsoll_assume",
            ir.FunctionType.get([x.type], [x.type]),
            visibility="private",
        )
        block = identity.add_entry_block()
        with ir.InsertionPoint(block):
            func.ReturnOp(block.arguments)
    name = module.symbol_table.insert(identity)
    return hlo.CompositeOp(
        [x.type],
        [x],
        _OP,
        decomposition=name.value,
        composite_attributes=ir.DictAttr.get({"property": ir.StringAttr.get(property)}),
    ).results


def _tolerance(x: "np.ndarray") -> float:
    import numpy as np

    if not np.issubdtype(x.dtype, np.inexact) or x.size == 0:
        return 0.0
    return _TOLERANCE * x.shape[-1] * float(np.finfo(x.dtype).eps) * float(np.max(np.abs(x)))


def _is_zero(x: "np.ndarray", of: "np.ndarray") -> bool:
    import numpy as np

    return bool(np.all(np.abs(x) <= _tolerance(of)))


def _is_symmetric(x: "np.ndarray") -> bool:
    return x.shape[-1] == x.shape[-2] and _is_zero(x - x.swapaxes(-1, -2), x)


def _is_definite(x: "np.ndarray", *, strictly: bool) -> bool:
    import numpy as np

    if not _is_symmetric(x):
        return False
    least = np.linalg.eigvalsh(x)
    return bool(np.all(least > 0)) if strictly else bool(np.all(least >= -_tolerance(x)))


def _is_triangular(x: "np.ndarray", *, lower: bool) -> bool:
    import numpy as np

    return bool(np.all((np.triu(x, 1) if lower else np.tril(x, -1)) == 0))


def _is_orthogonal(x: "np.ndarray") -> bool:
    import numpy as np

    return _is_zero(x.swapaxes(-1, -2) @ x - np.eye(x.shape[-1], dtype=x.dtype), x)


def _is_one_hot(x: "np.ndarray") -> bool:
    import numpy as np

    return bool(np.all((x == 0) | (x == 1)) and np.all(np.sum(x, axis=-1) <= 1))


def _is_permutation(x: "np.ndarray") -> bool:
    import numpy as np

    return _is_one_hot(x) and all(bool(np.all(np.sum(x, axis=axis) == 1)) for axis in (-1, -2))


def _is_identity(x: "np.ndarray") -> bool:
    import numpy as np

    return x.shape[-1] == x.shape[-2] and bool(np.all(x == np.eye(x.shape[-1], dtype=x.dtype)))


def _is_integer(x: "np.ndarray") -> bool:
    import numpy as np

    return bool(np.all(x == np.round(x)))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "symmetric": _is_symmetric,
    "positive semidefinite": functools.partial(_is_definite, strictly=False),
    "positive definite": functools.partial(_is_definite, strictly=True),
    "diagonal": lambda x: _is_triangular(x, lower=True) and _is_triangular(x, lower=False),
    "identity": _is_identity,
    "lower triangular": functools.partial(_is_triangular, lower=True),
    "upper triangular": functools.partial(_is_triangular, lower=False),
    "orthogonal": _is_orthogonal,
    "one-hot": _is_one_hot,
    "permutation": _is_permutation,
    "non-negative": lambda x: bool((x >= 0).all()),
    "positive": lambda x: bool((x > 0).all()),
    "integer-valued": _is_integer,
    "sorted": lambda x: bool((x[..., 1:] >= x[..., :-1]).all()),
}
_OF_MATRICES = frozenset(list(_CHECKS)[:10])
