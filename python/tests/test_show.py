"""What `plimsoll show` prints, to the letter."""

import argparse

import pytest

from plimsoll import ir
from plimsoll.show import describe
from plimsoll.units import byte_text, whole_number

ALL_OF_IT = """\
module small: 2 functions, 6 ops

arguments of main
  x     tensor<1024x4xf32>  16.0 KiB  train.py:3
  arg1  tensor<2xi8>             2 B

results of main
  0  tensor<1024x4xf32>  16.0 KiB

ops by kind
  2  func.func
  2  func.return
  1  func.call
  1  stablehlo.add

largest values
  16.0 KiB  tensor<1024x4xf32>  argument       train.py:3
  16.0 KiB  tensor<1024x4xf32>  func.call      train.py:7
  16.0 KiB  tensor<1024x4xf32>  stablehlo.add

totals
  all arguments                        16.0 KiB
  all results                          16.0 KiB
  all values, as if all lived at once  48.0 KiB"""

PROGRAM = """
"builtin.module"() <{sym_name = "small"}> ({
  "func.func"() <{function_type = (tensor<1024x4xf32>, tensor<2xi8>) -> tensor<1024x4xf32>,
                  sym_name = "main"}> ({
  ^bb0(%x: tensor<1024x4xf32> loc("x"("train.py":3:10)), %n: tensor<2xi8>):
    %0 = "func.call"(%x) <{callee = @twice}> : (tensor<1024x4xf32>) -> tensor<1024x4xf32>
        loc("jit(f)"("train.py":7:3))
    "func.return"(%0) : (tensor<1024x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1024x4xf32>) -> tensor<1024x4xf32>,
                  sym_name = "twice"}> ({
  ^bb0(%x: tensor<1024x4xf32>):
    %0 = "stablehlo.add"(%x, %x) : (tensor<1024x4xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
    "func.return"(%0) : (tensor<1024x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""

DYNAMIC = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>,
                  sym_name = "main"}> ({
  ^bb0(%x: tensor<?xf32>, %y: tensor<f32>):
    "func.return"(%x) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_columns_are_aligned():
    assert describe(ir.parse(PROGRAM), largest=3) == ALL_OF_IT


def test_no_values_if_none_are_asked_for():
    assert "largest values" not in describe(ir.parse(PROGRAM), largest=0)


def test_sizes_that_are_not_known():
    text = describe(ir.parse(DYNAMIC))
    assert "arg0  tensor<?xf32>    ?" in text
    assert "more than 4 B" in text
    assert "known only at run time" in text


def test_a_module_without_main():
    text = describe(ir.parse('"builtin.module"() ({^bb0:}) : () -> ()'))
    assert text.startswith("module: 0 functions, 0 ops\n\nops by kind\n  none")


def test_long_types_are_shortened():
    types = ", ".join(["tensor<1000x1000xf32>"] * 20)
    program = DYNAMIC.replace("tensor<?xf32>", f"tuple<{types}>")
    assert max(map(len, describe(ir.parse(program)).splitlines())) < 100


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "?"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (2**63 - 1, "8.0 EiB"),
    ],
)
def test_byte_text(count, text):
    assert byte_text(count) == text


def test_whole_number():
    assert whole_number("20") == 20
    for text in ("", "-1", "1.5", "many", "²"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a whole number"):
            whole_number(text)
