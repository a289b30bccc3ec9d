"""Conway's Game of Life in rounds: a rule that counts neighbours, on any graph.

On a torus in which every cell has eight neighbours it is the game itself:

    import networkx as nx
    from hegemon import simulate
    cells = nx.convert_node_labels_to_integers(nx.strong_product(nx.cycle_graph(8), nx.cycle_graph(8)))
    simulate(Life(n=64), graph=cells, until="rounds:100")
"""

from hegemon import Bit, RoundsProtocol, count


def is_alive(a, p):
    return a.alive == 1


class Life(RoundsProtocol):
    """A dead cell with 3 living neighbours is born, a living one with 2 or 3 stays alive, all others are dead."""

    topology = "ring"  # --graph chooses another one
    neighbourhood = "multiset"  # update may count its neighbours
    outputs = ()

    class State:
        alive: Bit

    def update(me, neighbours, coins, p):
        living = 0
        for k in range(len(neighbours)):
            living += neighbours[k].alive
        me.alive = 1 if living == 3 or (living == 2 and me.alive == 1) else 0

    living = count(is_alive, "living cells")
