"""The catalogue: published protocols under their ids, in the order of the papers, each loaded when it is asked for."""

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from hegemon.models.protocol import Protocol
    from hegemon.protocols.afek_gafni import AfekGafni as AfekGafni
    from hegemon.protocols.bfw import BFW as BFW
    from hegemon.protocols.cai_izumi_wada import CaiIzumiWada as CaiIzumiWada
    from hegemon.protocols.countdown import Countdown as Countdown
    from hegemon.protocols.dijkstra import Dijkstra as Dijkstra
    from hegemon.protocols.epidemic import Epidemic as Epidemic
    from hegemon.protocols.fischer_jiang import FischerJiang as FischerJiang
    from hegemon.protocols.flood_max import FloodMax as FloodMax
    from hegemon.protocols.gossip_identity import GossipIdentity as GossipIdentity
    from hegemon.protocols.herman import Herman as Herman
    from hegemon.protocols.itai_rodeh import ItaiRodeh as ItaiRodeh
    from hegemon.protocols.majority import ApproximateMajority as ApproximateMajority
    from hegemon.protocols.majority import ExactMajority as ExactMajority
    from hegemon.protocols.odd_ring import OddRing as OddRing
    from hegemon.protocols.optimal_silent import OptimalSilent as OptimalSilent
    from hegemon.protocols.p_ll import PLL as PLL
    from hegemon.protocols.pairwise import Pairwise as Pairwise
    from hegemon.protocols.quick_elimination import QuickElimination as QuickElimination
    from hegemon.protocols.referees import Referees as Referees
    from hegemon.protocols.ring import Ring as Ring
    from hegemon.protocols.sublinear_ranking import SublinearRanking as SublinearRanking
    from hegemon.protocols.threshold import Threshold as Threshold
    from hegemon.protocols.time_optimal import TimeOptimal as TimeOptimal
    from hegemon.protocols.timer import Timer as Timer
    from hegemon.protocols.tournament import AG as AG
    from hegemon.protocols.tournament import BK as BK
    from hegemon.protocols.trains.protocol import Trains as Trains
    from hegemon.protocols.walks import Walks as Walks
    from hegemon.protocols.war_timer import WarTimer as WarTimer

_HOMES = {
    "threshold": "threshold:Threshold",
    "pairwise": "pairwise:Pairwise",
    "timer": "timer:Timer",
    "epidemic": "epidemic:Epidemic",
    "countdown": "countdown:Countdown",
    "quick-elimination": "quick_elimination:QuickElimination",
    "time-optimal": "time_optimal:TimeOptimal",
    "cai-izumi-wada": "cai_izumi_wada:CaiIzumiWada",
    "optimal-silent": "optimal_silent:OptimalSilent",
    "sublinear-ranking": "sublinear_ranking:SublinearRanking",
    "war-timer": "war_timer:WarTimer",
    "gossip-identity": "gossip_identity:GossipIdentity",
    "p-ll": "p_ll:PLL",
    "ag": "tournament:AG",
    "bk": "tournament:BK",
    "approximate-majority": "majority:ApproximateMajority",
    "exact-majority": "majority:ExactMajority",
    "ring": "ring:Ring",
    "fischer-jiang": "fischer_jiang:FischerJiang",
    "odd-ring": "odd_ring:OddRing",
    "dijkstra": "dijkstra:Dijkstra",
    "trains": "trains.protocol:Trains",
    "bfw": "bfw:BFW",
    "herman": "herman:Herman",
    "referees": "referees:Referees",
    "walks": "walks:Walks",
    "flood-max": "flood_max:FloodMax",
    "afek-gafni": "afek_gafni:AfekGafni",
    "itai-rodeh": "itai_rodeh:ItaiRodeh",
}


class Catalogue(Mapping[str, "type[Protocol]"]):
    """From ids to classes: a file is read when its protocol is used."""

    def __getitem__(self, name: str) -> "type[Protocol]":
        module, _, kind = _HOMES[name].partition(":")
        return getattr(importlib.import_module(f"hegemon.protocols.{module}"), kind)

    def __contains__(self, name: object) -> bool:
        return name in _HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


CATALOGUE = Catalogue()


def __getattr__(name: str) -> Any:
    for id, home in _HOMES.items():
        if home.endswith(f":{name}"):
            return CATALOGUE[id]
    raise AttributeError(f"module 'hegemon.protocols' has no attribute {name!r}")
