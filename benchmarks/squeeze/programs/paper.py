"""The three experiments of the eXLA paper, in sizes that suit two cores, with its limits."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.programs.gaussian_processes import regression_data, sgpr_loss
from benchmarks.squeeze.programs.kernels import ard_parameters, rbf, squared_distances
from benchmarks.squeeze.table import normal, program
from jax import lax


@program("paper: nearest neighbours, limit 100 MB", limit=100_000_000)
def paper_knn():
    def neighbours(points, queries):
        return lax.top_k(-squared_distances(queries, points), 10)

    return neighbours, [normal(150_000, 20), normal(3000, 20, seed=1)]


@program("paper: kernel matrix product, limit 1 GB", limit=1_000_000_000)
def paper_kernel_product():
    def product(parameters, x, v):
        return rbf(parameters, x, x) @ v

    return product, [ard_parameters(10), normal(35_000, 10), normal(35_000, 4, seed=1)]


@program("paper: SGPR bound and gradient, limit 1 GB", limit=1_000_000_000)
def paper_sgpr():
    x, y = regression_data(200_000, 8)
    parameters = ard_parameters(8) | {"log_noise": jnp.asarray(-2.0)}
    return jax.value_and_grad(sgpr_loss, argnums=(0, 1)), [
        parameters,
        normal(600, 8, seed=2),
        x,
        y,
    ]
