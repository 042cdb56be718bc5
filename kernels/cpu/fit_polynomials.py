"""Writes polynomials.inc: the polynomials that vector_math.cc evaluates.

    pip install mpmath && python kernels/cpu/fit_polynomials.py > kernels/cpu/polynomials.inc

Each one is fitted at Chebyshev's points with 60 digits. What they are worth in the end is seen in
vector_math_test.cc, which counts units in the last place.
"""

import mpmath
from mpmath import mp

mp.dps = 60


def exp_tail(r):
    """(exp(r) - 1 - r) / r**2"""
    return _series(lambda k: 1 / mp.factorial(k + 2), r)


def _series(coefficient, x):
    """The sum of a power series near 0, where the closed form would cancel."""
    total, power, k = mp.mpf(0), mp.mpf(1), 0
    while True:
        term = coefficient(k) * power
        total += term
        if abs(term) < mp.mpf(10) ** -55:
            return total
        power *= x
        k += 1


def log_tail(f):
    """(log(1 + f) - f + f**2 / 2) / f**3"""
    return _series(lambda k: mp.mpf(-1) ** k / (k + 3), f)


def atanh_tail(z):
    """(log((1 + s) / (1 - s)) - 2 * s) / s**3 with z = s**2"""
    return _series(lambda k: mp.mpf(2) / (2 * k + 3), z)


def sine_tail(z):
    """(sin(r) - r) / r**3 with z = r**2"""
    return _series(lambda k: mp.mpf(-1) ** (k + 1) / mp.factorial(2 * k + 3), z)


def cosine_tail(z):
    """(cos(r) - 1 + z / 2) / z**2 with z = r**2"""
    return _series(lambda k: mp.mpf(-1) ** k / mp.factorial(2 * k + 4), z)


def error_function_rate(u):
    """-log(1 - erf(t)) / t with t = u + 2"""
    t = u + 2
    return 2 / mp.sqrt(mp.pi) if t == 0 else -mp.log(mp.erfc(t)) / t


HALF_LOG2 = mp.log(2) / 2
FITS = [
    ("ExpF32", exp_tail, (-HALF_LOG2, HALF_LOG2), 5),
    ("ExpF64", exp_tail, (-HALF_LOG2, HALF_LOG2), 11),
    ("LogF32", log_tail, (mp.sqrt(0.5) - 1, mp.sqrt(2) - 1), 9),
    ("LogF64", atanh_tail, (0, (3 - 2 * mp.sqrt(2)) ** 2), 8),
    ("SineF32", sine_tail, (0, (mp.pi / 4) ** 2), 4),
    ("SineF64", sine_tail, (0, (mp.pi / 4) ** 2), 7),
    ("CosineF32", cosine_tail, (0, (mp.pi / 4) ** 2), 4),
    ("CosineF64", cosine_tail, (0, (mp.pi / 4) ** 2), 7),
    ("ErrorFunctionF32", error_function_rate, (-2, 2), 15),
]


def main() -> None:
    print("// Made by fit_polynomials.py: coefficients, that of the lowest power first.")
    for name, function, interval, count in FITS:
        coefficients = mpmath.chebyfit(function, [mp.mpf(end) for end in interval], count)
        print(f"\n// {' '.join(function.__doc__.split())}")
        print(f"constexpr double k{name}[] = {{")
        for coefficient in reversed(coefficients):
            print(f"    {mpmath.nstr(coefficient, 21, strip_zeros=False)},")
        print("};")


if __name__ == "__main__":
    main()
