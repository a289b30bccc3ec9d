"""What the tests of the command line share."""


def sentences(error_stream: str) -> list[str]:
    """The lines of the error stream that are no progress."""
    return [line for line in error_stream.splitlines() if not line.startswith("…")]
