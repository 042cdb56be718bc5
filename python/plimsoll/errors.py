"""The one exception that Plimsoll raises."""


class PlimsollError(Exception):
    """An error with a code, such as PL101, that docs/errors explains.

    Codes PL1xx and PL2xx are the user's to mend; PL3xx and PL9xx are failures of the engine or of
    Plimsoll itself.
    """

    def __init__(self, code: str, message: str):
        # Both go to Exception, so that the error can be pickled and sent between processes.
        super().__init__(code, message)
        self.code = code
        self.message = message

    @property
    def is_user_mistake(self) -> bool:
        """True if a change of the input, a file or an option mends it."""
        return self.code[:3] in ("PL1", "PL2")

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
