# Written by `python -m hegemon.protocols`.
from collections.abc import Mapping

from hegemon.models.protocol import Protocol
from hegemon.protocols.afek_gafni import AfekGafni as AfekGafni
from hegemon.protocols.beauquier import Beauquier as Beauquier
from hegemon.protocols.bfw import BFW as BFW
from hegemon.protocols.biased_herman import BiasedHerman as BiasedHerman
from hegemon.protocols.biased_herman import SpeedReducer as SpeedReducer
from hegemon.protocols.cai_izumi_wada import CaiIzumiWada as CaiIzumiWada
from hegemon.protocols.chang_roberts import ChangRoberts as ChangRoberts
from hegemon.protocols.countdown import Countdown as Countdown
from hegemon.protocols.dijkstra import Dijkstra as Dijkstra
from hegemon.protocols.dynamic_counting import DynamicCounting as DynamicCounting
from hegemon.protocols.epidemic import Epidemic as Epidemic
from hegemon.protocols.fischer_jiang import FischerJiang as FischerJiang
from hegemon.protocols.flood_max import FloodMax as FloodMax
from hegemon.protocols.franklin import Franklin as Franklin
from hegemon.protocols.gossip_identity import GossipIdentity as GossipIdentity
from hegemon.protocols.herman import Herman as Herman
from hegemon.protocols.hirschberg_sinclair import HirschbergSinclair as HirschbergSinclair
from hegemon.protocols.huang import Huang as Huang
from hegemon.protocols.israeli_jalfon import IsraeliJalfon as IsraeliJalfon
from hegemon.protocols.itai_rodeh import ItaiRodeh as ItaiRodeh
from hegemon.protocols.leader_ring_3 import LeaderRing3 as LeaderRing3
from hegemon.protocols.leader_tree import LeaderTree as LeaderTree
from hegemon.protocols.majority import ApproximateMajority as ApproximateMajority
from hegemon.protocols.majority import ExactMajority as ExactMajority
from hegemon.protocols.odd_ring import OddRing as OddRing
from hegemon.protocols.optimal_silent import OptimalSilent as OptimalSilent
from hegemon.protocols.p_ll import PLL as PLL
from hegemon.protocols.pairwise import Pairwise as Pairwise
from hegemon.protocols.peterson import Peterson as Peterson
from hegemon.protocols.quick_elimination import QuickElimination as QuickElimination
from hegemon.protocols.referees import Referees as Referees
from hegemon.protocols.ring import Ring as Ring
from hegemon.protocols.simple_lottery import SimpleLottery as SimpleLottery
from hegemon.protocols.stable_ranking import StableRanking as StableRanking
from hegemon.protocols.sublinear_ranking import SublinearRanking as SublinearRanking
from hegemon.protocols.threshold import Threshold as Threshold
from hegemon.protocols.time_optimal import TimeOptimal as TimeOptimal
from hegemon.protocols.timer import Timer as Timer
from hegemon.protocols.tournament import AG as AG
from hegemon.protocols.tournament import BK as BK
from hegemon.protocols.trains.protocol import Trains as Trains
from hegemon.protocols.walks import Walks as Walks
from hegemon.protocols.war_timer import WarTimer as WarTimer

CATALOGUE: Mapping[str, type[Protocol]]
