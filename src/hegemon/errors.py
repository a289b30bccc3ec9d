"""The one exception that bad input raises, and its kin for what broke on the way. The command line prints the sentence
and exits with 2, or with 3."""


class InvalidInput(ValueError):
    """A value from outside that cannot be used: the message names it, what is allowed, and a way out."""


class Unfinished(InvalidInput):
    """Nothing is wrong with what was asked, but it could not be finished: a disk is full, a scheduler is gone."""
