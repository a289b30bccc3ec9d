"""What compiled code raises: kept apart from `arithmetic`, which takes long to load."""

from hegemon.errors import InvalidInput


class Undone(InvalidInput):
    """An operation of an author's function that Python does otherwise, or refuses too; the sentence has the line."""
