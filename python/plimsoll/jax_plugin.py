"""What JAX loads when it starts, through the entry-point group `jax_plugins`.

JAX logs an error of `initialize` and goes on without the plugin. A limit that is asked for and
cannot be held must stop the program, so the work is done while this module is imported.
"""

from plimsoll import hook

hook.install()


def initialize() -> None:
    """JAX calls this; all was done when the module was imported."""
