"""The exceptions that Plimsoll raises."""


class PlimsollError(Exception):
    """An error with a code, such as PL101, that docs/errors explains.

    Codes PL1xx, PL2xx and PL4xx are the user's to mend; PL3xx and PL9xx are failures of the engine
    or of Plimsoll itself.
    """

    def __init__(self, code: str, message: str):
        # Both go to Exception, so that the error can be pickled and sent between processes.
        super().__init__(code, message)
        self.code = code
        self.message = message

    @property
    def is_user_mistake(self) -> bool:
        """True if a change of the input, a file or an option mends it."""
        return self.code[:3] in ("PL1", "PL2", "PL4")

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class MemoryLimitError(PlimsollError, MemoryError):
    """A program needs more memory than its limit allows. It was compiled, and nothing has run."""

    def __init__(self, code: str, message: str, needed: int, allowed: int):
        super().__init__(code, message)
        # All of them, as for PlimsollError.
        self.args = (code, message, needed, allowed)
        self.needed = needed
        """The smallest limit that would do, in bytes."""
        self.allowed = allowed
        """The limit, in bytes."""
