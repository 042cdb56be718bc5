"""All programs. Importing this fills the table."""

from benchmarks.algebra import cartpole, kernels, linnea, networks, rules, sciences

__all__ = ["cartpole", "kernels", "linnea", "networks", "rules", "sciences"]
