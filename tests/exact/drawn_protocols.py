"""Protocols drawn at random: any table of transitions, any goal."""

from hypothesis import strategies as st

from hegemon.models import Group, PopulationProtocol, Range, at_least, at_most, everywhere, exactly

KINDS = [
    everywhere,
    lambda condition: exactly(1, condition),
    lambda condition: at_least(2, condition),
    lambda condition: at_most(1, condition),
]


def drawn(data, size, kinds=KINDS, closed=False, begins=None):
    """A protocol of `size` states, its table of pairs, and which states the goal counts.

    It starts anywhere, or, with `begins`, with one agent in the first of two states and all others in the second.
    """
    state = st.integers(0, size - 1)
    table = tuple(data.draw(st.lists(st.tuples(state, state), min_size=size**2, max_size=size**2)))
    goal = tuple(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    kind = data.draw(st.sampled_from(kinds))

    class Drawn(PopulationProtocol):
        arbitrary_start = begins is None
        default_start = "random" if begins is None else "given"

        class State:
            x: Range(0, size - 1)

        def interact(a, b, p):
            a.x, b.x = table[a.x * size + b.x]

        def output(a, p):
            return a.x == 0

        def start_given(self, rng):
            first, second = begins or (0, 0)
            return [Group(1, {"x": first}), Group(self.n - 1, {"x": second})]

        safe = kind(lambda a, p: goal[a.x]).described("anything", closed=closed)

    return Drawn, table, goal
