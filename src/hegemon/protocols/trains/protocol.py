"""Informative Trains: self-stabilizing election on any graph with O(log log n) bits per node.

Sections, definitions and names are those of the paper. A node v has two stations, v.F and v.L, each empty
(⊥) or holding a wagon (idx, bit, carry, flag); a train is N wagons one behind the other that count up as
they travel away from the leader that emitted them.
"""

from hegemon.models.domains import Bit, Choice, Range
from hegemon.models.observables import count, overall
from hegemon.models.parameters import Parameter
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.sets import exactly, whole
from hegemon.protocols.trains import legitimate, starts, values
from hegemon.protocols.trains.legitimate import EMPTY, WAGON
from hegemon.protocols.trains.listing import legitimate_configurations


def is_leader(a, p):
    return a.leader == 1


# Section 3.2.2: the next wagon, and binary addition


def following(idx, p):
    """Next(B), the index of the wagon behind B."""
    return 0 if idx == p.N - 1 else idx + 1


def look(me, neighbours, p):
    """SuccIsMarked(v); the largest bit in Succ^SuccIsMarked(v), -1 if that set is empty; whether the head
    of a marked train is next to v."""
    marked = me.L == WAGON and me.L_flag == 1
    wanted = following(me.L_idx, p) if me.L == WAGON else -1
    wanted_marked = wanted if marked else 0
    head = False
    unmarked_bit = -1
    marked_bit = -1
    for u in neighbours:
        if u.F == WAGON:
            if u.F_flag == 1:
                if u.F_idx == 0:
                    head = True
                if u.F_idx == wanted_marked:
                    marked_bit = max(marked_bit, u.F_bit)
            elif u.F_idx == wanted:
                unmarked_bit = max(unmarked_bit, u.F_bit)
    expects_marked = head or (marked and me.L_idx != p.N - 1)
    return expects_marked, marked_bit if expects_marked else unmarked_bit, head


def add_to_first(me):
    """Add(v.F, v.L), Definition 3.6; an empty station takes over nothing, and had no carry."""
    if me.L == EMPTY:
        me.F = EMPTY
        return
    carry = me.F_carry if me.F == WAGON else 0
    total = me.L_bit + (1 if me.L_idx == 0 else carry)
    me.F = WAGON
    me.F_idx = me.L_idx
    me.F_flag = me.L_flag
    me.F_bit = total & 1
    me.F_carry = total >> 1


def add_to_last(me, idx, bit, flag):
    """Add(v.L, B′) for the wagon B′ = (idx, bit, flag) of a neighbour."""
    total = bit + (1 if idx == 0 else me.L_carry)
    me.L_idx = idx
    me.L_flag = flag
    me.L_bit = total & 1
    me.L_carry = total >> 1


# Section 3.3: errors. All comparisons with an empty station are false.


def error_1(me, p):
    return me.L == EMPTY


def error_2(me, p):
    return me.L == WAGON and me.F == WAGON and me.L_idx != following(me.F_idx, p)


def error_3(me, p):
    return me.L == WAGON and me.F == WAGON and me.L_idx != 0 and me.L_flag != me.F_flag


def error_4(me, p):
    return me.F == WAGON and me.F_idx == p.N - 1 and me.F_carry == 1


def error_5(me, p):
    return me.L == WAGON and me.L_idx == p.N - 1 and me.L_carry == 1


def local_error(me, p):
    return error_1(me, p) or error_2(me, p) or error_3(me, p) or error_4(me, p) or error_5(me, p)


def error_overflow_last(me, expects_marked, bit, p):
    """Err-Overflow^L, where `bit` is the largest in Succ(v)."""
    last = me.L == WAGON and me.L_idx == p.N - 2 and me.L_carry == 1 and bit == 1
    return last and (me.L_flag == 1) == expects_marked


def error_overflow_first(me, p):
    """Err-Overflow^F. Unlike Err-Overflow^L it does not ask whether a marked train is about to come (Lemma 4.3)."""
    return me.F == WAGON and me.F_idx == p.N - 2 and me.F_carry == 1 and me.L == WAGON and me.L_bit == 1


def error_overflow(me, expects_marked, bit, p):
    return error_overflow_last(me, expects_marked, bit, p) or error_overflow_first(me, p)


# Sections 3.3 and 3.4: what a leader does


def new_leader(me, x):
    me.leader = 1
    me.F = WAGON
    me.F_idx = 0
    me.F_bit = 1
    me.F_carry = 0
    me.F_flag = 0
    me.L = WAGON
    me.L_idx = 1
    me.L_bit = 0
    me.L_carry = 0
    me.L_flag = 0
    me.rand = x


def wagon_creation(me, x, p):
    add_to_first(me)
    if me.L == EMPTY:  # only in an arbitrary start: begin a new, unmarked train
        me.L = WAGON
        me.L_idx = 0
        me.L_flag = 0
        me.rand = x
    elif me.L_idx == p.N - 1:
        me.L_idx = 0
        me.L_flag = me.rand
        me.rand = x
    else:
        me.L_idx += 1
        me.rand *= x
    me.L_bit = 0
    me.L_carry = 0


def wagon_update(me, expects_marked, bit, p):
    """Definition 3.8. Here v.L holds a wagon and Succ is not empty, or v would be in error."""
    idx = following(me.L_idx, p)
    if expects_marked:
        if me.L_flag == 1 or me.L_idx == p.N - 1:
            add_to_first(me)
        else:
            me.F = EMPTY  # a marked head cuts an unmarked train
        add_to_last(me, idx if me.L_flag == 1 else 0, bit, 1)
    else:
        add_to_first(me)
        add_to_last(me, idx, bit, 0)


# What is worth watching


def lacks_successor(me, neighbours, p):
    return me.leader == 0 and look(me, neighbours, p)[1] < 0


def overflows(me, neighbours, p):
    expects_marked, bit, _ = look(me, neighbours, p)
    return me.leader == 0 and error_overflow(me, expects_marked, bit, p)


class Trains(RoundsProtocol):
    """Leaders emit trains of N wagons that count while they travel; a rare marked train eliminates other leaders."""

    reference = (
        "L. Blin, S. Gay, I. Ziccardi, Informative Trains: A Memory-Efficient Journey to a "
        "Self-Stabilizing Leader Election Algorithm in Anonymous Graphs"
    )
    grade = "exact"
    shelf = "any graph"
    random_bits = 2
    public = ("F", "F_idx", "F_bit", "F_flag")
    private = ("rand",)
    class_names = {
        "F=empty L=empty": "v.F and v.L empty (⊥)",
        "F=empty L=wagon": "v.F empty (⊥), v.L a wagon",
        "F=wagon L=empty": "v.F a wagon, v.L empty (⊥)",
        "F=wagon L=wagon": "v.F and v.L wagons",
    }

    N = Parameter("max(5, ceil(1 + log2(n)))", low="max(5, 1 + log2(n))", high=60, help="wagons per train")
    k = Parameter(1, low=0, high="n", help="how many nodes the start `corrupted` scrambles")

    class State:
        leader: Bit
        rand: Bit
        F: Choice("empty", "wagon")
        L: Choice("empty", "wagon")
        F_idx: Range(0, "N - 1").when(F="wagon")
        F_bit: Bit.when(F="wagon")
        F_carry: Bit.when(F="wagon")
        F_flag: Bit.when(F="wagon")
        L_idx: Range(0, "N - 1").when(L="wagon")
        L_bit: Bit.when(L="wagon")
        L_carry: Bit.when(L="wagon")
        L_flag: Bit.when(L="wagon")

    def update(me, neighbours, coins, p):
        """Update-State(v), Definition 3.13.

        The paper is silent about a leader with v.L = ⊥ beside the head of a marked train, which only an arbitrary
        start can have. Here ⊥ has no flag, so Is-Eliminated(v) does not hold: the leader stays, and as with any
        empty last station it begins a new unmarked train.
        """
        x = 1 if coins == 0 else 0  # X ~ Bernoulli(1/4)
        expects_marked, bit, head = look(me, neighbours, p)
        if me.leader == 0 and (local_error(me, p) or bit < 0 or error_overflow(me, expects_marked, bit, p)):
            new_leader(me, x)
            return
        if me.L == WAGON and me.L_flag == 0 and head:  # Is-Eliminated(v)
            me.leader = 0
        if me.leader == 1:
            wagon_creation(me, x, p)
        else:
            wagon_update(me, expects_marked, bit, p)

    symbols = "two wagons with their indices, F then L; * marked, - none"

    def label(a, p):
        """The indices of both wagons, F then L; a star marks a marked one."""
        return " ".join(
            "-" if station == EMPTY else f"{idx}{'*' if flag else ''}"
            for station, idx, flag in ((a.F, a.F_idx, a.F_flag), (a.L, a.L_idx, a.L_flag))
        )

    def listed(self, name, topology):
        return legitimate_configurations(self, topology) if name == "safe" else super().listed(name, topology)

    def highlight(a, p):
        """Nodes that carry a marked wagon."""
        return (a.F == WAGON and a.F_flag == 1) or (a.L == WAGON and a.L_flag == 1)

    def start_all_leaders(self, rng, topology):
        """Every node has just become a leader, as New-Leader leaves it."""
        return starts.all_leaders(self)

    def start_no_leader(self, rng, topology):
        """No leader, and trains that run in a circle and count up unnoticed, where the graph has a cycle of
        fitting length (a multiple of N, or of N/2 for even N); else the trains of a leader that vanished."""
        return starts.no_leader(self, rng, topology)

    def start_safe(self, rng, topology):
        """A legitimate configuration: a leader anywhere, and its unmarked trains."""
        return starts.safe(self, rng, topology)

    def start_corrupted(self, rng, topology):
        """A legitimate configuration in which k nodes have random states."""
        return starts.corrupted(self, rng, topology)

    safe = (exactly(1, is_leader) & whole(legitimate.is_legitimate, legitimate.why_not)).described(
        "Γ_L: one leader, around it layers of equal wagons that form trains of the right value (Definition 4.1)",
        closed=True,
    )

    leaders = count(is_leader, "nodes that are leaders")
    marked_wagons = overall(values.marked_wagons, "stations that hold a marked wagon")
    trains = overall(values.train_heads, "stations that hold the head of a complete train")
    smallest_value = overall(values.smallest_value, "smallest Value of a complete train, -1 if there is none")
    largest_value = overall(values.largest_value, "largest Value of a complete train, -1 if there is none")
    err_1 = count(lambda a, p: a.leader == 0 and error_1(a, p), "non-leaders without a last wagon")
    err_2 = count(lambda a, p: a.leader == 0 and error_2(a, p), "non-leaders whose wagons are not consecutive")
    err_3 = count(lambda a, p: a.leader == 0 and error_3(a, p), "non-leaders whose wagons differ in their flags")
    err_4 = count(lambda a, p: a.leader == 0 and error_4(a, p), "non-leaders whose first wagon overflows")
    err_5 = count(lambda a, p: a.leader == 0 and error_5(a, p), "non-leaders whose last wagon overflows")
    err_successor = count(lacks_successor, "non-leaders without a next wagon")
    err_overflow = count(overflows, "non-leaders at which a train reaches 2^N")
