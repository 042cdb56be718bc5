"""All programs. Importing this fills the table."""

from benchmarks.algebra import cartpole, kernels, linnea, networks, sciences

__all__ = ["cartpole", "kernels", "linnea", "networks", "sciences"]
