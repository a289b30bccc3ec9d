"""What a shell may complete a word to. A user's Python file is not executed for it, so its names are not offered."""

from typing import Any

import typer


def ids(incomplete: str) -> list[str]:
    """Protocols of the catalogue."""
    from hegemon.protocols import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


def graphs(incomplete: str) -> list[str]:
    """Families, with the colon after which their size follows."""
    from hegemon import parts
    from hegemon.graphs.families import FAMILIES

    return [f"{name}:" for name in (*FAMILIES, *parts.plugins("graphs")) if name.startswith(incomplete)]


def starts(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of(ctx, incomplete, lambda protocol: protocol.starts)


def stops(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of(ctx, incomplete, lambda protocol: (*protocol.sets, "broken", "silent", "steps:"))


def parameters(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of(ctx, incomplete, lambda protocol: [f"{name}=" for name in protocol.parameter_declarations])


def engines(ctx: typer.Context, incomplete: str) -> list[str]:
    from hegemon import parts

    return _of(ctx, incomplete, lambda protocol: ("auto", *parts.BUILT_IN[f"{protocol.model.name} engines"]))


def _of(ctx: typer.Context, incomplete: str, names: Any) -> list[str]:
    """Names that the protocol on the command line has; none if it is no protocol of the catalogue."""
    from hegemon.protocols import CATALOGUE

    words = [ctx.params.get("protocol"), ctx.params.get("study"), *ctx.args]  # in args, while an option lacks its value
    kind = next((CATALOGUE[word] for word in words if isinstance(word, str) and word in CATALOGUE), None)
    return [] if kind is None else [name for name in names(kind) if name.startswith(incomplete)]


OF_OPTIONS = {"graph": graphs, "start": starts, "until": stops, "engine": engines}  # of a run, by their names
