"""Functions that read, make and move messages of declared fields, and check the variables of a node, as text."""

from typing import Any

from hegemon.engines.messages.compiled.kinds import Texts
from hegemon.models.messages import STATUSES, MessageProtocol


def plumbing(protocol: MessageProtocol, texts: Texts, makers: dict[tuple[str, ...], str]) -> str:
    """`make_…`, `read_…`, `push`, `fetch`, `deliver` and `fits`: their text depends on names alone, the bounds are in
    the layout."""
    fields = {one.name: one.domain for one in protocol.message_fields}

    def one_of(value: str, allowed: Any) -> str:
        return " or ".join(
            f"{value} == {texts.number(one) if one is None or isinstance(one, str) else one}" for one in allowed
        )

    def exists(word: str, prefix: str) -> str:
        """Whether a message has this field."""
        tests = [
            f"({exists(other, prefix)}) and ({one_of(prefix + other, allowed)})"
            for other, allowed in fields[word].condition
        ]
        return " and ".join(tests) or "True"

    def inside(value: str, place: int, domain: Any) -> str:
        if domain.names:
            return f"require({one_of(value, domain.names)})"
        return f"require(w.layout[{place}] <= {value} <= w.layout[{place + 1}])"

    lines = []
    for words, title in makers.items():
        lines += [f"def {title}(w, {', '.join(f'v_{word}' for word in words)}):", "    bits = 0"]
        for place, (word, domain) in enumerate(fields.items()):
            if word in words:
                lines += [f"    require({exists(word, 'v_')})", f"    {inside(f'v_{word}', 3 * place, domain)}"]
                lines += [f"    bits += w.layout[{3 * place + 2}]"]
            else:
                lines += [f"    require(not ({exists(word, 'v_')}))", f"    v_{word} = 0"]
        lines += [f"    return Message({', '.join(f'v_{word}' for word in fields)}, max(1, bits))"]
    for word in fields:
        lines += [f"def read_{word}(m):", f"    require({exists(word, 'm.')})", f"    return m.{word}"]
    everything = [*fields, "bits"]
    lines += ["def push(w, port, m):", "    k = w.count[0]", "    require(k < len(w.ports))"]
    lines += ["    w.ports[k] = port", "    w.count[0] = k + 1"]
    lines += [f"    w.rows[k, {place}] = m.{word}" for place, word in enumerate(everything)]
    lines += ["def fetch(w, port):", "    require(holds(w, port))"]
    lines += [f"    return Message({', '.join(f'w.slots[w.first + port].{word}' for word in everything)})"]
    lines += ["def deliver(w, k, slots, slot):"]
    lines += [f"    slots[slot].{word} = w.rows[k, {place}]" for place, word in enumerate(everything)]
    lines += [f"    return w.rows[k, {len(fields)}]"]
    lines += ["def fits(w, node):", f"    require({one_of('node.status', STATUSES)})"]
    for place, one in enumerate(protocol.node_fields):
        lines += [f"    {inside(f'node.{one.name}', 3 * len(fields) + 2 * place, one.domain)}"]
    return "\n".join([*lines, "    return", ""])
