"""jax.nn with its initialisers, and jax.random with every distribution and generator."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from corpus.program import Theme, bf16, boolean, f32, integers, positive_definite

theme = Theme("nn_and_random")

ACTIVATIONS = (
    "celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log1mexp "
    "log_sigmoid log_softmax logmeanexp logsumexp mish relu relu6 selu sigmoid silu soft_sign "
    "softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh"
).split()
for name in ACTIVATIONS:
    function = getattr(nn, name)
    theme.add_over(f"nn-{name}", function, (f32(3, 5),), (bf16(2, 3),))
    theme.add(f"nn-{name}-grad", jax.grad(lambda x, f=function: f(x).sum()), f32(3, 5))
theme.add("nn-gelu-exact", lambda x: nn.gelu(x, approximate=False), f32(3, 5))
theme.add("nn-glu", nn.glu, f32(3, 6))
theme.add(
    "nn-one_hot",
    lambda i: (nn.one_hot(i, 5), nn.one_hot(i, 5, dtype=bool, axis=0)),
    integers(0, 7, 4),
)
theme.add("nn-softmax-where", lambda x, m: nn.softmax(x, axis=0, where=m), f32(3, 5), boolean(3, 5))
Q = f32(2, 7, 3, 4)
theme.add("nn-attention", nn.dot_product_attention, Q, Q, Q)
theme.add(
    "nn-attention-causal", lambda q: nn.dot_product_attention(q, q, q, is_causal=True, scale=0.3), Q
)
theme.add(
    "nn-attention-masked",
    jax.grad(lambda q, b, m: nn.dot_product_attention(q, q, q, bias=b, mask=m).sum(), (0, 1)),
    Q,
    f32(2, 3, 7, 7),
    boolean(2, 3, 7, 7),
)
theme.add(
    "nn-attention-grouped",
    lambda q, k: nn.dot_product_attention(q, k, k, local_window_size=(2, 1)),
    f32(2, 7, 6, 4),
    f32(2, 5, 2, 4),
)
theme.add(
    "nn-attention-lengths",
    lambda q, n: nn.dot_product_attention(q, q, q, query_seq_lengths=n, key_value_seq_lengths=n),
    Q,
    np.int32([3, 7]),
)
theme.add(
    "nn-scaled_matmul",
    lambda a, b, s, t: nn.scaled_matmul(
        a.astype("float8_e4m3fn"),
        b.astype("float8_e4m3fn"),
        s.astype("float8_e8m0fnu"),
        t.astype("float8_e8m0fnu"),
    ),
    f32(1, 8, 64),
    f32(1, 8, 64),
    f32(1, 8, 2),
    f32(1, 8, 2),
    platforms=("cuda",),
    runnable=False,
)

INITIALIZERS = (
    "glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal "
    "lecun_uniform normal orthogonal truncated_normal uniform xavier_normal xavier_uniform"
).split()
KEY = np.uint32([17, 42])
for name in INITIALIZERS:
    initializer = getattr(nn.initializers, name)
    theme.add(
        f"init-{name}",
        lambda key, make=initializer: make()(key, (5, 3), jnp.float32),
        KEY,
        runnable=name != "orthogonal",  # by LAPACK
    )
theme.add(
    "init-constants",
    lambda key: [
        f(key, (2, 3), "float32")
        for f in (nn.initializers.zeros, nn.initializers.ones, nn.initializers.constant(3))
    ],
    KEY,
)
theme.add(
    "init-variance_scaling",
    lambda key: nn.initializers.variance_scaling(2.0, "fan_avg", "truncated_normal")(
        key, (3, 3, 2, 4), "bfloat16"
    ),
    KEY,
)
theme.add(
    "init-delta_orthogonal",
    lambda key: nn.initializers.delta_orthogonal()(key, (3, 3, 4, 4), "float32"),
    KEY,
    runnable=False,
)

DISTRIBUTIONS = {
    "ball": lambda k: jax.random.ball(k, 3, shape=(5,)),
    "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (7,)),
    "bernoulli-low": lambda k: jax.random.bernoulli(k, 0.3, (7,), mode="low"),
    "beta": lambda k: jax.random.beta(k, 2.0, 3.0, (5,)),
    "binomial": lambda k: jax.random.binomial(k, 11, 0.3, (5,)),
    "bits": lambda k: [jax.random.bits(k, (5,), d) for d in ("uint8", "uint16", "uint32")],
    "categorical": lambda k: jax.random.categorical(k, jnp.arange(5.0), shape=(7,)),
    "categorical-no-replacement": lambda k: jax.random.categorical(
        k, jnp.arange(5.0), shape=(3,), replace=False
    ),
    "cauchy": lambda k: jax.random.cauchy(k, (5,)),
    "chisquare": lambda k: jax.random.chisquare(k, 3.0, shape=(5,)),
    "choice": lambda k: jax.random.choice(k, 11, (5,)),
    "choice-no-replacement": lambda k: jax.random.choice(k, jnp.arange(11), (5,), replace=False),
    "choice-weighted": lambda k: jax.random.choice(k, 4, (5,), p=jnp.array([0.1, 0.2, 0.3, 0.4])),
    "dirichlet": lambda k: jax.random.dirichlet(k, jnp.array([1.0, 2.0, 3.0]), (5,)),
    "double_sided_maxwell": lambda k: jax.random.double_sided_maxwell(k, 0.1, 2.0, (5,)),
    "exponential": lambda k: jax.random.exponential(k, (5,)),
    "f": lambda k: jax.random.f(k, 3.0, 5.0, (5,)),
    "fold_in": lambda k: jax.random.uniform(jax.random.fold_in(k, 7)),
    "gamma": lambda k: jax.random.gamma(k, 2.5, (5,)),
    "generalized_normal": lambda k: jax.random.generalized_normal(k, 1.5, (5,)),
    "geometric": lambda k: jax.random.geometric(k, 0.3, (5,)),
    "gumbel": lambda k: jax.random.gumbel(k, (5,)),
    "gumbel-high": lambda k: jax.random.gumbel(k, (5,), mode="high"),
    "laplace": lambda k: jax.random.laplace(k, (5,)),
    "loggamma": lambda k: jax.random.loggamma(k, 0.5, (5,)),
    "logistic": lambda k: jax.random.logistic(k, (5,)),
    "lognormal": lambda k: jax.random.lognormal(k, shape=(5,)),
    "maxwell": lambda k: jax.random.maxwell(k, (5,)),
    "multinomial": lambda k: jax.random.multinomial(k, 11.0, jnp.array([0.2, 0.3, 0.5])),
    "normal": lambda k: [jax.random.normal(k, (5,), d) for d in ("float32", "float16", "bfloat16")],
    "normal-complex": lambda k: jax.random.normal(k, (5,), "complex64"),
    "orthogonal": lambda k: jax.random.orthogonal(k, 4),
    "pareto": lambda k: jax.random.pareto(k, 2.0, (5,)),
    "permutation": lambda k: jax.random.permutation(k, 11),
    "permutation-rows": lambda k: jax.random.permutation(
        k, jnp.arange(15).reshape(5, 3), axis=1, independent=True
    ),
    "poisson": lambda k: jax.random.poisson(k, 5.0, (5,)),
    "rademacher": lambda k: jax.random.rademacher(k, (5,), "float32"),
    "randint": lambda k: [
        jax.random.randint(k, (5,), -3, 11, d) for d in ("int8", "int32", "uint8")
    ],
    "rayleigh": lambda k: jax.random.rayleigh(k, 2.0, (5,)),
    "split": lambda k: jax.random.uniform(jax.random.split(k, 3)[1]),
    "t": lambda k: jax.random.t(k, 3.0, (5,)),
    "triangular": lambda k: jax.random.triangular(k, 0.0, 0.3, 1.0, (5,)),
    "truncated_normal": lambda k: jax.random.truncated_normal(k, -1.0, 2.0, (5,)),
    "uniform": lambda k: [
        jax.random.uniform(k, (5,), d, -1, 3) for d in ("float32", "float16", "bfloat16")
    ],
    "wald": lambda k: jax.random.wald(k, 2.0, (5,)),
    "weibull_min": lambda k: jax.random.weibull_min(k, 2.0, 1.5, (5,)),
}
for name, function in DISTRIBUTIONS.items():
    theme.add(
        f"random-{name}",
        lambda data, f=function: f(jax.random.wrap_key_data(data, impl="threefry2x32")),
        KEY,
        runnable=name != "orthogonal",
    )
for name in "normal uniform bits permutation gamma".split():
    for implementation in ("rbg", "unsafe_rbg"):
        theme.add(
            f"random-{name}-{implementation}",
            lambda data, f=DISTRIBUTIONS[name], i=implementation: f(
                jax.random.wrap_key_data(data, impl=i)
            ),
            np.uint32([1, 2, 3, 4]),
            # XLA's generator may give other bits in another version of XLA.
            runnable=False,
        )
theme.add(
    "random-multivariate_normal",
    lambda k, m, c: jax.random.multivariate_normal(k, m, c, (5,), method="svd"),
    KEY,
    f32(3),
    positive_definite(np.float32, 3, 3),
    runnable=False,
)
theme.add("random-key", lambda seed: jax.random.normal(jax.random.key(seed), (3,)), np.int32(7))
theme.add("random-PRNGKey", lambda seed: jax.random.PRNGKey(seed), np.int32(7))
theme.add(
    "random-keys-in-and-out",
    lambda k: (jax.random.split(k, 3), jax.random.clone(k)),
    jax.ShapeDtypeStruct((), jax.random.key(0).dtype),
    runnable=False,
)
theme.add(
    "random-vmap", jax.vmap(lambda k: jax.random.normal(k, (3,))), np.uint32([[1, 2], [3, 4]])
)
theme.add(
    "random-x64",
    lambda k: (
        jax.random.uniform(k, (3,)),
        jax.random.bits(k, (3,), "uint64"),
        jax.random.randint(k, (3,), 0, 9),
    ),
    KEY,
    x64=True,
)
theme.add(
    "random-not-partitionable",
    lambda k: jax.random.normal(k, (5,)),
    KEY,
    config={"jax_threefry_partitionable": False},
)
for algorithm in jax.lax.RandomAlgorithm:
    theme.add(
        f"rng_bit_generator-{algorithm.name.lower()}",
        lambda k, a=algorithm: [
            jax.lax.rng_bit_generator(k, (3, 5), d, a) for d in ("uint8", "uint16", "uint32")
        ],
        np.uint32([1, 2, 3, 4]),
        runnable=False,
    )
theme.add(
    "rng_uniform",
    lambda a, b: jax.lax.rng_uniform(a, b, (3, 5)),
    np.float32(0),
    np.float32(2),
    runnable=False,
)
