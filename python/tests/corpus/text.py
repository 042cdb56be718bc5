"""Helpers for modules that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence


def module(arguments: str, body: str, results: str, before: str = "") -> str:
    """A module whose `main` ends by returning what the body calls %r."""
    types = split_types(results)
    names = ["%r"] if len(types) == 1 else [f"%r#{k}" for k in range(len(types))]
    values = f" {', '.join(names)} : {', '.join(types)}" if types else ""
    return f"""
      {before}
      func.func @main({arguments}) -> ({results}) {{
        {body}
        return{values}
      }}"""


def one_op(
    name: str,
    operands: Sequence[str],
    results: Sequence[str],
    attributes: str = "",
    regions: str = "",
    extra: str = "",
    before: str = "",
) -> str:
    """A module with one op on the function's arguments, all given by their types."""
    arguments = ", ".join(f"%a{k}: {kind}" for k, kind in enumerate(operands))
    values = ", ".join(f"%a{k}" for k in range(len(operands)))
    left = "" if not results else "%r = " if len(results) == 1 else f"%r:{len(results)} = "
    properties = f" <{{{attributes}}}>" if attributes else ""
    body = (
        f'{left}"{name}"({values}){properties}{f" ({regions})" if regions else ""}'
        f"{f' {{{extra}}}' if extra else ''} : ({', '.join(operands)}) -> ({', '.join(results)})"
    )
    return module(arguments, body, ", ".join(results), before)


def reducer(op: str = "add", element: str = "f32") -> str:
    """A region that combines two scalars."""
    kind = f"tensor<{element}>"
    return f"""{{
      ^bb0(%x: {kind}, %y: {kind}):
        %s = "stablehlo.{op}"(%x, %y) : ({kind}, {kind}) -> {kind}
        "stablehlo.return"(%s) : ({kind}) -> ()
    }}"""


def split_types(types: str) -> list[str]:
    """Splits at the commas that are not inside of brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(types):
        if character in "<([{":
            depth += 1
        elif character in "}])" or (character == ">" and types[position - 1] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(types[start:position].strip())
            start = position + 1
    last = types[start:].strip()
    return parts + [last] if last else parts
