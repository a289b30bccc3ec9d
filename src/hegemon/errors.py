"""The one exception that bad input raises. The command line prints its sentence and exits with 2."""


class InvalidInput(ValueError):
    """A value from outside that cannot be used: the message names it, what is allowed, and a way out."""
