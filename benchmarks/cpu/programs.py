"""All programs. Importing this fills the table."""

from benchmarks.cpu import neighbours, networks, points, products, simulations

__all__ = ["neighbours", "networks", "points", "products", "simulations"]
