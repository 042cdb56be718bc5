"""The programs, by theme. Importing this fills the table."""

from benchmarks.squeeze.programs import (
    derivatives,
    distances,
    gaussian_processes,
    kernels,
    linear,
    losses,
    packages,
    packages_networks,
    paper,
    signals,
    training,
)

__all__ = [
    "derivatives",
    "distances",
    "gaussian_processes",
    "kernels",
    "linear",
    "losses",
    "packages",
    "packages_networks",
    "paper",
    "signals",
    "training",
]
