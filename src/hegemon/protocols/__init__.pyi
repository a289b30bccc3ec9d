# Written by `python -m hegemon.protocols`.
from collections.abc import Mapping
from typing import Literal

from hegemon.models.protocol import Protocol
from hegemon.protocols.afek_gafni import AfekGafni as _AfekGafni
from hegemon.protocols.beauquier import Beauquier as _Beauquier
from hegemon.protocols.bfw import BFW as _BFW
from hegemon.protocols.biased_herman import BiasedHerman as _BiasedHerman
from hegemon.protocols.biased_herman import SpeedReducer as _SpeedReducer
from hegemon.protocols.cai_izumi_wada import CaiIzumiWada as _CaiIzumiWada
from hegemon.protocols.chang_roberts import ChangRoberts as _ChangRoberts
from hegemon.protocols.countdown import Countdown as _Countdown
from hegemon.protocols.dijkstra import Dijkstra as _Dijkstra
from hegemon.protocols.dynamic_counting import DynamicCounting as _DynamicCounting
from hegemon.protocols.epidemic import Epidemic as _Epidemic
from hegemon.protocols.fischer_jiang import FischerJiang as _FischerJiang
from hegemon.protocols.flood_max import FloodMax as _FloodMax
from hegemon.protocols.franklin import Franklin as _Franklin
from hegemon.protocols.gossip_identity import GossipIdentity as _GossipIdentity
from hegemon.protocols.herman import Herman as _Herman
from hegemon.protocols.hirschberg_sinclair import HirschbergSinclair as _HirschbergSinclair
from hegemon.protocols.huang import Huang as _Huang
from hegemon.protocols.israeli_jalfon import IsraeliJalfon as _IsraeliJalfon
from hegemon.protocols.itai_rodeh import ItaiRodeh as _ItaiRodeh
from hegemon.protocols.leader_ring_3 import LeaderRing3 as _LeaderRing3
from hegemon.protocols.leader_tree import LeaderTree as _LeaderTree
from hegemon.protocols.majority import ApproximateMajority as _ApproximateMajority
from hegemon.protocols.majority import ExactMajority as _ExactMajority
from hegemon.protocols.odd_ring import OddRing as _OddRing
from hegemon.protocols.optimal_silent import OptimalSilent as _OptimalSilent
from hegemon.protocols.p_ll import PLL as _PLL
from hegemon.protocols.pairwise import Pairwise as _Pairwise
from hegemon.protocols.peterson import Peterson as _Peterson
from hegemon.protocols.quick_elimination import QuickElimination as _QuickElimination
from hegemon.protocols.referees import Referees as _Referees
from hegemon.protocols.ring import Ring as _Ring
from hegemon.protocols.simple_lottery import SimpleLottery as _SimpleLottery
from hegemon.protocols.stable_ranking import StableRanking as _StableRanking
from hegemon.protocols.sublinear_ranking import SublinearRanking as _SublinearRanking
from hegemon.protocols.threshold import Threshold as _Threshold
from hegemon.protocols.time_optimal import TimeOptimal as _TimeOptimal
from hegemon.protocols.timer import Timer as _Timer
from hegemon.protocols.tournament import AG as _AG
from hegemon.protocols.tournament import BK as _BK
from hegemon.protocols.trains.protocol import Trains as _Trains
from hegemon.protocols.walks import Walks as _Walks
from hegemon.protocols.war_timer import WarTimer as _WarTimer

CATALOGUE: Mapping[str, type[Protocol]]
_Number = int | float | str | None  # a number, or an expression over n and other parameters

class AG(_AG):
    """A leader with the larger value stays and adds one; everybody else is a minion that spreads the larger value.

    m: the largest value
    """
    m: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        m: _Number = ...,
    ) -> None: ...

class AfekGafni(_AfekGafni):
    """In phase i every surviving candidate captures 2^i more nodes, or gives up; who captures all is elected."""
    def __init__(self, n: int | float) -> None: ...

class ApproximateMajority(_ApproximateMajority):
    """An agent that meets the other opinion goes blank, a blank one takes the opinion it meets; one opinion remains.

    votes: how many agents start with opinion X
    """
    votes: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        votes: _Number = ...,
    ) -> None: ...

class BFW(_BFW):
    """A waiting leader beeps on heads; a beep is passed on once, and ends the lead of every waiting node that hears."""
    def __init__(self, n: int | float) -> None: ...

class BK(_BK):
    """As in `ag`, but a surviving leader adds one only after `r` heads in a row: initiator head, responder tail.

    top: the largest value
    r: heads in a row that raise a value
    """
    top: int  # type: ignore[assignment]
    r: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        top: _Number = ...,
        r: _Number = ...,
    ) -> None: ...

class Beauquier(_Beauquier):
    """A node with its left neighbour's d turns it, and draws a new t if it holds a token; one token remains."""
    def __init__(self, n: int | float) -> None: ...

class BiasedHerman(_BiasedHerman):
    """Herman's ring with a biased coin: a new bit is 0, or a token is passed on, with probability `chance`.

    passing: 0: a node with a token draws a new bit, others copy; 1: it passes the token on
    chance: the paper's p: that a new bit is 0, or a token is passed on
    """
    passing: int  # type: ignore[assignment]
    chance: float  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        passing: _Number = ...,
        chance: _Number = ...,
    ) -> None: ...

class CaiIzumiWada(_CaiIzumiWada):
    """Of two agents with the same rank the responder takes the next rank, modulo n; rank 0 is the leader."""
    def __init__(self, n: int | float) -> None: ...

class ChangRoberts(_ChangRoberts):
    """Send the identifier to the right, pass on larger ones and drop smaller ones; who gets its own back is elected."""
    def __init__(self, n: int | float) -> None: ...

class Countdown(_Countdown):
    """Both agents take the larger of their two values less one, never below zero.

    top: the largest value, l1 of Lemma 3
    bottom: the value to fall to, l2 of Lemma 3
    spread: how far below the top the set `close` reaches (Lemma 4)
    """
    top: int  # type: ignore[assignment]
    bottom: int  # type: ignore[assignment]
    spread: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        top: _Number = ...,
        bottom: _Number = ...,
        spread: _Number = ...,
    ) -> None: ...

class Dijkstra(_Dijkstra):
    """The special agent counts on when it sees its own number, the others copy; one privilege goes round.

    K: how many numbers there are
    """
    K: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        K: _Number = ...,
    ) -> None: ...

class DynamicCounting(_DynamicCounting):
    """Agents keep joining group 1, 2, 3 … by tossing coins; the highest group that is heard of is about log n.

    groups: how many groups have a clock
    heads: the most heads that a draw tosses
    largest: the largest first estimate
    """
    groups: int  # type: ignore[assignment]
    heads: int  # type: ignore[assignment]
    largest: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        groups: _Number = ...,
        heads: _Number = ...,
        largest: _Number = ...,
    ) -> None: ...

class Epidemic(_Epidemic):
    """Both agents take the larger of their two values.

    top: the largest value
    """
    top: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        top: _Number = ...,
    ) -> None: ...

class ExactMajority(_ExactMajority):
    """Two strong opinions cancel and become weak; a strong opinion persuades weak ones; always right.

    votes: how many agents start with opinion X
    """
    votes: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        votes: _Number = ...,
    ) -> None: ...

class FischerJiang(_FischerJiang):
    """Leaders always shoot to the right; shields wander to the left and stop bullets; an oracle reports absence."""
    def __init__(self, n: int | float) -> None: ...

class FloodMax(_FloodMax):
    """Every node floods the highest rank it knows; after as many rounds as the diameter, its owner is elected.

    diameter: an upper bound on the diameter, known to the nodes
    """
    diameter: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        diameter: _Number = ...,
    ) -> None: ...

class Franklin(_Franklin):
    """Active nodes exchange identifiers with the next active ones on both sides, and the larger ones stay active."""
    def __init__(self, n: int | float) -> None: ...

class GossipIdentity(_GossipIdentity):
    """Everybody draws an identity and believes in the highest that it has heard of lately; its owner leads.

    bits: length of an identity
    life: interactions for which a heartbeat is believed
    """
    bits: int  # type: ignore[assignment]
    life: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        bits: _Number = ...,
        life: _Number = ...,
    ) -> None: ...

class Herman(_Herman):
    """A node with its left neighbour's bit (a token) draws a new bit, the others copy; one token remains."""
    def __init__(self, n: int | float) -> None: ...

class HirschbergSinclair(_HirschbergSinclair):
    """In phase k a candidate's probes go 2^k hops both ways; a larger node drops them, the last one answers."""
    def __init__(self, n: int | float) -> None: ...

class Huang(_Huang):
    """A node counts on until the values around the ring have equal differences; then all differ, and 0 leads."""
    def __init__(self, n: int | float) -> None: ...

class IsraeliJalfon(_IsraeliJalfon):
    """A daemon picks an agent with a token, which goes to a random neighbour; tokens that meet merge; one remains."""
    def __init__(self, n: int | float) -> None: ...

class ItaiRodeh(_ItaiRodeh):
    """Active nodes send random ids round the ring; larger ids silence smaller ones, and a unique largest id wins.

    K: ids are drawn from 1..K
    wins: the largest id if it is unique, or any unique one
    """
    K: int  # type: ignore[assignment]
    wins: str  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        K: _Number = ...,
        wins: Literal['largest', 'unique'] | None = ...,
    ) -> None: ...

class LeaderRing3(_LeaderRing3):
    """Three values and a bit: a table of rules leads to one leader on rings of three or five nodes."""
    def __init__(self, n: int | float) -> None: ...

class LeaderTree(_LeaderTree):
    """A node at which all neighbours but one point points at that one, any other at nobody; one root remains.

    max_degree: the largest degree of a node
    """
    max_degree: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        max_degree: _Number = ...,
    ) -> None: ...

class OddRing(_OddRing):
    """A token goes round the ring; leaders repaint it, and whoever sees its own colour again takes the lead.

    k: does not divide n; k = N + 1 serves every ring of at most N agents
    """
    k: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        k: _Number = ...,
    ) -> None: ...

class OptimalSilent(_OptimalSilent):
    """Agents that know n deal out all ranks along a binary tree; a doubled rank resets everybody; rank 0 leads.

    r_max: how far a reset spreads
    d_max: how long an agent sleeps after a reset, Θ(n)
    e_max: how long an agent waits for a rank, Θ(n)
    """
    r_max: int  # type: ignore[assignment]
    d_max: int  # type: ignore[assignment]
    e_max: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        r_max: _Number = ...,
        d_max: _Number = ...,
        e_max: _Number = ...,
    ) -> None: ...

class PLL(_PLL):
    """Timekeepers lead everybody through a lottery, two tournaments and a slow election that is always right.

    m: known approximation of log2 n
    l_max: the largest level
    c_max: meetings of a timekeeper between two ticks
    phi: bits of a tournament
    """
    m: int  # type: ignore[assignment]
    l_max: int  # type: ignore[assignment]
    c_max: int  # type: ignore[assignment]
    phi: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        m: _Number = ...,
        l_max: _Number = ...,
        c_max: _Number = ...,
        phi: _Number = ...,
    ) -> None: ...

class Pairwise(_Pairwise):
    """Every agent starts as a leader; when two leaders meet, the responder yields."""
    def __init__(self, n: int | float) -> None: ...

class Peterson(_Peterson):
    """An active node with t learns t1 and t2 of the two active ones before it, and goes on with t1 if that is largest."""
    def __init__(self, n: int | float) -> None: ...

class QuickElimination(_QuickElimination):
    """Every leader counts heads until its first tail; the highest count spreads and defeats the rest.

    m: known approximation of log2 n
    """
    m: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        m: _Number = ...,
    ) -> None: ...

class Referees(_Referees):
    """A few candidates send their ranks to random referees; who wins at all of its referees is elected.

    variant: what is asked of the nodes
    candidates: the expected number of candidates
    referees: referees per candidate
    messages: a budget of messages, such as n^0.4, kept w.p. >= 1 - 1/n
    """
    variant: str  # type: ignore[assignment]
    candidates: float  # type: ignore[assignment]
    referees: int  # type: ignore[assignment]
    messages: float | None  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        variant: Literal['implicit', 'explicit', 'wakeup'] | None = ...,
        candidates: _Number = ...,
        referees: _Number = ...,
        messages: _Number = ...,
    ) -> None: ...

class Ring(_Ring):
    """Leaders shoot live or dummy bullets to the right and shield themselves; distances reveal that none is left.

    N: the known upper bound on n
    """
    N: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        N: _Number = ...,
    ) -> None: ...

class SimpleLottery(_SimpleLottery):
    """About log n agents become markers by tossing heads; contenders count markers, and the highest count spreads.

    lam: λ: an agent marks itself after λ heads
    U: how long the tournament lasts, in multiples of log n
    M: how far contenders count
    in_sequence: 1: the second agent sees the first one changed, as in ppsim's program
    """
    lam: int  # type: ignore[assignment]
    U: int  # type: ignore[assignment]
    M: int  # type: ignore[assignment]
    in_sequence: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        lam: _Number = ...,
        U: _Number = ...,
        M: _Number = ...,
        in_sequence: _Number = ...,
    ) -> None: ...

class SpeedReducer(_SpeedReducer):
    """Herman's ring whose nodes become slow and normal again by chance; a slow node with a token keeps its bit.

    passing: 0: a node with a token draws a new bit, others copy; 1: it passes the token on
    chance: that the new bit of a normal node is 0
    slow_chance: passing: that a slow node passes its token on
    slowing: the paper's q: that a normal node becomes slow
    waking: the paper's s: that a slow node becomes normal
    """
    passing: int  # type: ignore[assignment]
    chance: float  # type: ignore[assignment]
    slow_chance: float  # type: ignore[assignment]
    slowing: float  # type: ignore[assignment]
    waking: float  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        passing: _Number = ...,
        chance: _Number = ...,
        slow_chance: _Number = ...,
        slowing: _Number = ...,
        waking: _Number = ...,
    ) -> None: ...

class StableRanking(_StableRanking):
    """Agents that know n elect one, which deals out all ranks in phases; a doubled rank resets all; rank 1 leads.

    K: the number of phases
    W: how long the elected agent waits, Θ(log n)
    L: how long agents believe that somebody deals ranks, Θ(log n)
    E: how long an election lasts, Θ(log n), at least 2 K
    R: how far a reset spreads, Θ(log n)
    D: how long an agent sleeps after a reset, Θ(log n)
    extra_head: 1: win at head K + 1, as in the lines of Protocol 5
    program: 1: the authors' program, where it differs from the report
    waiting_resets: 0: without line 2 of Protocol 4, as in the program
    """
    K: int  # type: ignore[assignment]
    W: int  # type: ignore[assignment]
    L: int  # type: ignore[assignment]
    E: int  # type: ignore[assignment]
    R: int  # type: ignore[assignment]
    D: int  # type: ignore[assignment]
    extra_head: int  # type: ignore[assignment]
    program: int  # type: ignore[assignment]
    waiting_resets: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        K: _Number = ...,
        W: _Number = ...,
        L: _Number = ...,
        E: _Number = ...,
        R: _Number = ...,
        D: _Number = ...,
        extra_head: _Number = ...,
        program: _Number = ...,
        waiting_resets: _Number = ...,
    ) -> None: ...

class SublinearRanking(_SublinearRanking):
    """Agents that know n rank themselves by random names; trees of past meetings unmask a doubled name quickly.

    H: depth of the trees: O(n^(1/(H+1))) time, O(log n) at H = log2 n
    L: bits of a name
    S: sync values
    T: meetings for which an edge stays alive
    r_max: how far a reset spreads
    d_max: how long an agent sleeps after a reset: enough to draw a name
    """
    H: int  # type: ignore[assignment]
    L: int  # type: ignore[assignment]
    S: int  # type: ignore[assignment]
    T: int  # type: ignore[assignment]
    r_max: int  # type: ignore[assignment]
    d_max: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        H: _Number = ...,
        L: _Number = ...,
        S: _Number = ...,
        T: _Number = ...,
        r_max: _Number = ...,
        d_max: _Number = ...,
    ) -> None: ...

class Threshold(_Threshold):
    """Decides whether at least k agents are marked: marks are added up, and k spreads to everyone.

    k: the threshold
    marked: how many agents start with input 1
    """
    k: int  # type: ignore[assignment]
    marked: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        k: _Number = ...,
        marked: _Number = ...,
    ) -> None: ...

class TimeOptimal(_TimeOptimal):
    """Check whether a leader exists, then elect by lottery, forever; one leader soon, kept for very long.

    tau: longer holding (n^tau) for slower convergence (tau log n)
    m: known approximation of log2 n
    r_max: length of the check phase
    r_mid: timers below may enter the election phase
    b_max: length of the election phase
    """
    tau: int  # type: ignore[assignment]
    m: int  # type: ignore[assignment]
    r_max: int  # type: ignore[assignment]
    r_mid: int  # type: ignore[assignment]
    b_max: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        tau: _Number = ...,
        m: _Number = ...,
        r_max: _Number = ...,
        r_mid: _Number = ...,
        b_max: _Number = ...,
    ) -> None: ...

class Timer(_Timer):
    """A leader resets timers; followers count down together, and a timeout makes a new leader.

    N: the known upper bound on n
    s: the value that timers are reset to
    """
    N: int  # type: ignore[assignment]
    s: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        N: _Number = ...,
        s: _Number = ...,
    ) -> None: ...

class Trains(_Trains):
    """Leaders emit trains of N wagons that count while they travel; a rare marked train eliminates other leaders.

    N: wagons per train
    k: how many nodes the start `corrupted` scrambles
    """
    N: int  # type: ignore[assignment]
    k: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        N: _Number = ...,
        k: _Number = ...,
    ) -> None: ...

class Walks(_Walks):
    """Candidates send out random walks; walks that meet a higher rank die; who gets all of its walks back wins.

    candidates: the expected number of candidates
    walks: random walks per candidate
    mixing_time: the length of the walks: τ(G), computed or given
    lazy: stay with probability 1/2; auto: if bipartite
    """
    candidates: float  # type: ignore[assignment]
    walks: int  # type: ignore[assignment]
    mixing_time: int | str  # type: ignore[assignment]
    lazy: str  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        candidates: _Number = ...,
        walks: _Number = ...,
        mixing_time: _Number | Literal['auto', 'exact', 'spectral'] = ...,
        lazy: Literal['auto', 'yes', 'no'] | None = ...,
    ) -> None: ...

class WarTimer(_WarTimer):
    """Leaders keep timers high and, now and then, shield themselves and send a virus that ends the unshielded.

    N: the known upper bound on n, polynomial in n
    tau: longer holding for slower convergence
    T: the value that timers are reset to
    V: the strength of a new virus
    W: meetings of a leader between two coins
    """
    N: int  # type: ignore[assignment]
    tau: int  # type: ignore[assignment]
    T: int  # type: ignore[assignment]
    V: int  # type: ignore[assignment]
    W: int  # type: ignore[assignment]
    def __init__(
        self,
        n: int | float,
        *,
        N: _Number = ...,
        tau: _Number = ...,
        T: _Number = ...,
        V: _Number = ...,
        W: _Number = ...,
    ) -> None: ...
