"""Statistics and physics, as textbooks write them."""

import jax
import jax.numpy as jnp
from benchmarks.algebra.table import program
from benchmarks.arrays import definite, normal, regular, uniform

STATISTICS = "statistics"
PHYSICS = "physics"


@program(STATISTICS, "covariance with a centring matrix")
def covariance(n=3000, d=100):
    def of(x):
        centring = jnp.eye(len(x)) - jnp.ones((len(x), len(x))) / len(x)
        return x.T @ centring @ x / (len(x) - 1)

    return of, [normal(n, d)]


@program(STATISTICS, "least squares with inv(x' x), and leverages")
def leverages(n=5000, d=200):
    def fit(x, y):
        hat = x @ jnp.linalg.inv(x.T @ x) @ x.T
        return hat @ y, jnp.diag(hat)

    return fit, [normal(n, d), normal(n, seed=1)]


@program(STATISTICS, "weighted least squares with diag(w)")
def weighted_least_squares(n=4000, d=100):
    def fit(x, y, w):
        weights = jnp.diag(w)
        return jnp.linalg.inv(x.T @ weights @ x) @ x.T @ weights @ y

    return fit, [normal(n, d), normal(n, seed=1), uniform(n) + 0.5]


@program(STATISTICS, "Mahalanobis distances: diag(d inv(S) d')")
def mahalanobis(n=4000, d=300):
    def distances(x, mean, spread):
        difference = x - mean
        return jnp.sqrt(jnp.diag(difference @ jnp.linalg.inv(spread) @ difference.T))

    return distances, [normal(n, d), normal(d, seed=1), definite(d)]


@program(STATISTICS, "correlations: D^-1/2 S D^-1/2")
def correlations(n=5000, d=1000):
    def of(x):
        centred = x - x.mean(axis=0)
        spread = centred.T @ centred / len(x)
        roots = jnp.diag(1 / jnp.sqrt(jnp.diag(spread)))
        return roots @ spread @ roots

    return of, [normal(n, d)]


@program(STATISTICS, "residual of a projection onto components: x - x V V'")
def reconstruction(n=5000, d=1000, k=10):
    def error(x, components):
        return jnp.sum(x * (x - x @ (components @ components.T)))

    return error, [normal(n, d), normal(d, k, seed=1) / d]


@program(STATISTICS, "mean of all inner products")
def mean_product(n=8000, d=100):
    return (lambda x: jnp.mean(x @ x.T)), [normal(n, d)]


@program(STATISTICS, "whitening of two sets: inv(Lx) C inv(Ly)'")
def whitening(n=4000, d=500):
    def of(x, y):
        factors = [jnp.linalg.cholesky(z.T @ z / len(z) + jnp.eye(d)) for z in (x, y)]
        across = x.T @ y / len(x)
        return jnp.linalg.inv(factors[0]) @ across @ jnp.linalg.inv(factors[1]).T

    return of, [normal(n, d), normal(n, d, seed=1)]


@program(STATISTICS, "log density of a Gaussian with inv(S) and det(S)")
def log_density(n=4000, d=300):
    def total(x, mean, spread):
        difference = x - mean
        squares = jnp.sum(difference @ jnp.linalg.inv(spread) * difference, axis=1)
        return -0.5 * jnp.sum(squares) - 0.5 * len(x) * jnp.linalg.slogdet(spread)[1]

    return total, [normal(n, d), normal(d, seed=1), definite(d)]


@program(PHYSICS, "Kalman filter over a series")
def kalman(turns=20, n=200, m=50):
    def filtered(start, spread, transition, observe, noise, series):
        def step(state, measured):
            mean, covariance = transition @ state[0], transition @ state[1] @ transition.T
            inner = observe @ covariance @ observe.T + noise
            gain = covariance @ observe.T @ jnp.linalg.inv(inner)
            mean = mean + gain @ (measured - observe @ mean)
            covariance = (jnp.eye(n) - gain @ observe) @ covariance + 0.1 * jnp.eye(n)
            return (mean, covariance), mean

        return jax.lax.scan(step, (start, spread), series)[1]

    return filtered, [
        normal(n),
        definite(n),
        0.9 * regular(n),
        normal(m, n, seed=1) / n**0.5,
        definite(m, seed=2),
        normal(turns, m, seed=3),
    ]


@program(PHYSICS, "oscillators with a concatenated state, by leapfrog")
def oscillators(n=2000, turns=200):
    def simulate(position, velocity, stiffness):
        def step(_, state):
            x, v = state[:n], state[n:]
            v = v - 0.01 * jnp.sin(stiffness @ x)
            return jnp.concatenate([x + 0.01 * v, v])

        return jax.lax.fori_loop(0, turns, step, jnp.concatenate([position, velocity]))

    return simulate, [normal(n), normal(n, seed=1), definite(n) / n]


@program(PHYSICS, "Lorenz systems, with a stacked state")
def lorenz(n=200_000, turns=100):
    def simulate(start):
        def step(_, state):
            x, y, z = state
            change = jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
            return state + 0.005 * change

        return jax.lax.fori_loop(0, turns, step, start)

    return simulate, [normal(3, n)]


@program(PHYSICS, "Laplacian of a grid as a Kronecker sum")
def laplacian(n=56, m=56):
    def apply(u):
        def second(size):
            return jnp.eye(size, k=1) + jnp.eye(size, k=-1) - 2 * jnp.eye(size)

        matrix = jnp.kron(second(n), jnp.eye(m)) + jnp.kron(jnp.eye(n), second(m))
        return matrix @ u.reshape(-1)

    return apply, [normal(n, m)]


@program(PHYSICS, "expectation of an observable: trace(rho H), of a mixed state")
def expectation(n=2000, states=20):
    def of(vectors, weights, hamiltonian):
        density = vectors @ jnp.diag(weights) @ vectors.T
        return jnp.trace(density @ hamiltonian)

    return of, [normal(n, states) / n**0.5, uniform(states), definite(n)]


@program(PHYSICS, "potential of charges: sums over a matrix of pairs")
def potential(n=3000):
    def energy(x, charges):
        difference = x[:, None, :] - x[None, :, :]
        inverse = 1 / jnp.sqrt(jnp.sum(difference**2, axis=-1) + 0.1)
        return jnp.sum(jnp.outer(charges, charges) * inverse)

    return jax.value_and_grad(energy), [normal(n, 3), normal(n, seed=1)]


@program(PHYSICS, "implicit diffusion: inv(I - dt L) applied for several steps")
def implicit_diffusion(n=1000, turns=10):
    def simulate(u, matrix):
        def step(u, _):
            return jnp.linalg.inv(jnp.eye(n) + 0.1 * matrix) @ u, None

        return jax.lax.scan(step, u, None, length=turns)[0]

    return simulate, [normal(n), definite(n)]
