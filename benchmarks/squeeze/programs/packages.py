"""Calls into other people's packages: kernels, transport, inference, physics.

Each imports its package when it is built, because a process runs one of them only.
"""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.programs.gaussian_processes import regression_data
from benchmarks.squeeze.table import integers, normal, program, uniform


@program("GPJax: collapsed bound of a sparse process with ARD, and gradient", package="gpjax")
def gpjax_collapsed():
    import gpjax
    from flax import nnx

    x, y = regression_data(60_000, 3)
    prior = gpjax.gps.Prior(
        mean_function=gpjax.mean_functions.Constant(),
        kernel=gpjax.kernels.RBF(lengthscale=jnp.ones(3)),
    )
    posterior = prior * gpjax.likelihoods.Gaussian(num_datapoints=len(x), obs_stddev=0.3)
    family = gpjax.variational_families.CollapsedVariationalGaussian(
        posterior=posterior, inducing_inputs=normal(300, 3, seed=2), jitter=1e-3
    )
    structure, parameters = nnx.split(family)

    def loss(parameters, x, y):
        family = nnx.merge(structure, parameters)
        return -gpjax.objectives.collapsed_elbo(family, gpjax.Dataset(X=x, y=y)) / len(x)

    return jax.value_and_grad(loss), [parameters, x, y[:, None]]


@program(
    "GPJax: cross-covariance of a sum of kernels, times a vector, and gradient", package="gpjax"
)
def gpjax_kernel_sum():
    import gpjax
    from flax import nnx

    kernel = gpjax.kernels.Matern32(lengthscale=jnp.ones(4)) + gpjax.kernels.RationalQuadratic()
    structure, parameters = nnx.split(kernel)

    def form(parameters, x, y, v):
        covariance = nnx.merge(structure, parameters).cross_covariance(x, y)
        return jnp.mean((covariance @ v) ** 2) / len(y)

    return jax.value_and_grad(form), [
        parameters,
        normal(7000, 4),
        normal(7000, 4, seed=1),
        normal(7000, seed=2),
    ]


@program("tinygp: product of a Matérn kernel matrix and a vector, and gradient", package="tinygp")
def tinygp_product():
    from tinygp import kernels, transforms

    def form(scale, x, v):
        kernel = 1.5 * transforms.Linear(1 / scale, kernels.Matern32())
        return v @ (kernel(x, x) @ v) / len(x)

    return jax.value_and_grad(form), [jnp.ones(3), normal(8000, 3), normal(8000, seed=1)]


@program("OTT: Sinkhorn on point clouds, ten iterations", package="ott-jax")
def ott_sinkhorn():
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    def cost(x, y):
        geometry = pointcloud.PointCloud(x, y, epsilon=0.5)
        solver = sinkhorn.Sinkhorn(threshold=-1.0, inner_iterations=5, max_iterations=10)
        solved = solver(linear_problem.LinearProblem(geometry))
        return solved.reg_ot_cost

    return jax.value_and_grad(cost), [normal(6000, 4), normal(6000, 4, seed=1) + 0.3]


@program("OTT: entropic soft ranks of many vectors", package="ott-jax")
def ott_soft_rank():
    from ott.tools import soft_sort

    def ranks(values):
        return soft_sort.ranks(values, axis=-1, num_targets=100, epsilon=0.1, max_iterations=20)

    return ranks, [normal(256, 1000)]


@program("numpyro: potential energy of a Gaussian mixture, and gradient", package="numpyro")
def numpyro_mixture():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import potential_energy

    def model(x):
        means = numpyro.sample("means", dist.Normal(0, 3).expand([400, 4]).to_event(2))
        scales = numpyro.sample("scales", dist.LogNormal(0, 0.5).expand([400, 4]).to_event(2))
        weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(400)))
        components = dist.Normal(means, scales).to_event(1)
        mixture = dist.MixtureSameFamily(dist.Categorical(probs=weights), components)
        with numpyro.plate("points", len(x)):
            numpyro.sample("x", mixture, obs=x)

    def energy(values, x):
        return potential_energy(model, (x,), {}, values) / len(x)

    values = {
        "means": normal(400, 4, scale=2.0),
        "scales": normal(400, 4, seed=1, scale=0.2),
        "weights": normal(399, seed=2, scale=0.2),
    }
    return jax.value_and_grad(energy), [values, normal(50_000, 4, seed=3, scale=2.0)]


@program("numpyro: item response model, gradient of many chains at once", package="numpyro")
def numpyro_item_response():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import potential_energy

    def model(answers):
        ability = numpyro.sample("ability", dist.Normal(0, 1).expand([1000]).to_event(1))
        difficulty = numpyro.sample("difficulty", dist.Normal(0, 1).expand([500]).to_event(1))
        slope = numpyro.sample("slope", dist.LogNormal(0, 0.3).expand([500]).to_event(1))
        logits = slope * (ability[:, None] - difficulty)
        numpyro.sample("answers", dist.Bernoulli(logits=logits).to_event(2), obs=answers)

    def energies(values, answers):
        def one(values):
            return potential_energy(model, (answers,), {}, values) / answers.size

        return jax.vmap(jax.value_and_grad(one))(values)

    values = {
        "ability": normal(128, 1000),
        "difficulty": normal(128, 500, seed=1),
        "slope": normal(128, 500, seed=2, scale=0.2),
    }
    return energies, [values, integers(2, 1000, 500)]


@program(
    "blackjax: a step of Hamiltonian Monte Carlo, many chains of logistic regression",
    package="blackjax",
    has_reference=False,
)
def blackjax_chains():
    import blackjax

    def step(positions, keys, x, labels):
        def density(weights):
            logits = x @ weights
            fit = jnp.sum(labels * logits - jax.nn.softplus(logits))
            return fit - 0.5 * jnp.sum(weights**2)

        sampler = blackjax.hmc(
            density,
            step_size=1e-3,
            inverse_mass_matrix=jnp.ones(positions.shape[1]),
            num_integration_steps=3,
        )
        states = jax.vmap(sampler.init)(positions)
        states, info = jax.vmap(sampler.step)(keys, states)
        return states.position, info.acceptance_rate

    labels = integers(2, 20_000).astype(jnp.float32)
    keys = jax.random.split(jax.random.PRNGKey(0), 2048)
    return step, [normal(2048, 24, scale=0.1), keys, normal(20_000, 24, seed=1), labels]


@program("distrax: log-density of a large mixture, and gradient", package="distrax")
def distrax_mixture():
    import distrax

    def loss(parameters, x):
        mixture = distrax.MixtureSameFamily(
            distrax.Categorical(logits=parameters["logits"]),
            distrax.MultivariateNormalDiag(parameters["means"], jnp.exp(parameters["log_scales"])),
        )
        return -mixture.log_prob(x).mean()

    parameters = {
        "logits": normal(1000, scale=0.1),
        "means": normal(1000, 6),
        "log_scales": normal(1000, 6, seed=1, scale=0.1),
    }
    return jax.value_and_grad(loss), [parameters, normal(20_000, 6, seed=2)]


@program("diffrax: a cluster of stars through time, forces of all pairs", package="diffrax")
def diffrax_nbody():
    import diffrax

    def simulate(positions, velocities):
        def field(_, state, __):
            positions, velocities = state
            separation = positions[None, :, :] - positions[:, None, :]
            cubes = (jnp.sum(separation**2, axis=-1) + 0.1) ** 1.5
            forces = jnp.einsum("ij,ijk->ik", 1 / cubes, separation)
            return velocities, forces / len(positions)

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Heun(),
            t0=0.0,
            t1=0.3,
            dt0=0.1,
            y0=(positions, velocities),
        )
        return solution.ys

    return simulate, [normal(4500, 3), normal(4500, 3, seed=1, scale=0.1)]


@program("diffrax: gradient through a neural ODE for a large batch", package="diffrax")
def diffrax_neural_ode():
    import diffrax

    def loss(weights, start, targets):
        def field(_, y, weights):
            return jnp.tanh(y @ weights[0]) @ weights[1]

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=1.0,
            dt0=0.5,
            y0=start,
            args=weights,
            adjoint=diffrax.RecursiveCheckpointAdjoint(checkpoints=4),
        )
        return jnp.mean((solution.ys[0] - targets) ** 2)

    weights = (normal(16, 128, scale=0.25), normal(128, 16, seed=1, scale=0.1))
    return jax.value_and_grad(loss), [weights, normal(100_000, 16), normal(100_000, 16, seed=2)]


@program("jaxopt: gradient descent on multinomial regression", package="jaxopt")
def jaxopt_regression():
    import jaxopt

    def fit(weights, x, labels):
        solver = jaxopt.GradientDescent(
            jaxopt.objective.multiclass_logreg, stepsize=0.1, maxiter=3, tol=0.0, acceleration=False
        )
        return solver.run(weights, data=(x, labels)).params

    return fit, [jnp.zeros((32, 1000)), normal(100_000, 32), integers(1000, 100_000)]


@program("jaxopt: projections of many rows onto the simplex, and gradient", package="jaxopt")
def jaxopt_simplex():
    from jaxopt.projection import projection_simplex

    def loss(table, bias, x):
        weights = jax.vmap(projection_simplex)(x @ table + bias)
        return jnp.mean(jnp.sum(weights**2, axis=1))

    return jax.value_and_grad(loss, argnums=(0, 1)), [
        normal(16, 1000),
        normal(1000, seed=1),
        normal(20_000, 16, seed=2),
    ]


@program("e3nn: equivariant messages along the edges of a graph", package="e3nn-jax")
def e3nn_messages():
    import e3nn_jax as e3nn

    def messages(positions, features, radial, senders, receivers):
        vectors = e3nn.IrrepsArray("1o", positions[receivers] - positions[senders])
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", vectors, normalize=True)
        edges = e3nn.tensor_product(e3nn.IrrepsArray("8x0e + 8x1o", features)[senders], harmonics)
        lengths = jnp.linalg.norm(vectors.array, axis=1, keepdims=True)
        gates = jnp.tanh(lengths * radial) @ jnp.ones((len(radial), 1)) / len(radial)
        summed = e3nn.scatter_sum(edges * gates, dst=receivers, output_size=len(positions))
        return summed.array

    count = 300_000
    return messages, [
        normal(5000, 3),
        normal(5000, 32, seed=1),
        uniform(16),
        integers(5000, count),
        integers(5000, count, seed=1),
    ]


@program("jraph: a graph attention layer over many edges, and gradient", package="jraph")
def jraph_attention():
    import jraph

    def loss(weights, nodes, senders, receivers):
        layer = jraph.GAT(
            attention_query_fn=lambda x: x @ weights["query"],
            attention_logit_fn=lambda s, r, _: jax.nn.leaky_relu(
                jnp.concatenate([s, r], axis=-1) @ weights["logit"]
            ),
            node_update_fn=jnp.tanh,
        )
        graph = jraph.GraphsTuple(
            nodes=nodes,
            edges=None,
            senders=senders,
            receivers=receivers,
            n_node=jnp.array([len(nodes)]),
            n_edge=jnp.array([len(senders)]),
            globals=None,
        )
        return jnp.mean(layer(graph).nodes ** 2)

    weights = {"query": normal(32, 64, scale=0.2), "logit": normal(128, 1, scale=0.1)}
    edges = 1_000_000
    return jax.value_and_grad(loss), [
        weights,
        normal(20_000, 32),
        integers(20_000, edges),
        integers(20_000, edges, seed=1),
    ]
