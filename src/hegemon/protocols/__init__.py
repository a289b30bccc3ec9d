"""The catalogue: one file per published protocol."""

from hegemon.models.protocol import Protocol
from hegemon.protocols.afek_gafni import AfekGafni
from hegemon.protocols.bfw import BFW
from hegemon.protocols.cai_izumi_wada import CaiIzumiWada
from hegemon.protocols.countdown import Countdown
from hegemon.protocols.dijkstra import Dijkstra
from hegemon.protocols.epidemic import Epidemic
from hegemon.protocols.fischer_jiang import FischerJiang
from hegemon.protocols.flood_max import FloodMax
from hegemon.protocols.gossip_identity import GossipIdentity
from hegemon.protocols.herman import Herman
from hegemon.protocols.itai_rodeh import ItaiRodeh
from hegemon.protocols.majority import ApproximateMajority, ExactMajority
from hegemon.protocols.odd_ring import OddRing
from hegemon.protocols.optimal_silent import OptimalSilent
from hegemon.protocols.p_ll import PLL
from hegemon.protocols.pairwise import Pairwise
from hegemon.protocols.quick_elimination import QuickElimination
from hegemon.protocols.referees import Referees
from hegemon.protocols.ring import Ring
from hegemon.protocols.sublinear_ranking import SublinearRanking
from hegemon.protocols.threshold import Threshold
from hegemon.protocols.time_optimal import TimeOptimal
from hegemon.protocols.timer import Timer
from hegemon.protocols.tournament import AG, BK
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.walks import Walks
from hegemon.protocols.war_timer import WarTimer

CATALOGUE: dict[str, type[Protocol]] = {
    protocol.id: protocol
    for protocol in (
        Threshold,
        Pairwise,
        Timer,
        Epidemic,
        Countdown,
        QuickElimination,
        TimeOptimal,
        CaiIzumiWada,
        OptimalSilent,
        SublinearRanking,
        WarTimer,
        GossipIdentity,
        PLL,
        AG,
        BK,
        ApproximateMajority,
        ExactMajority,
        Ring,
        FischerJiang,
        OddRing,
        Dijkstra,
        Trains,
        BFW,
        Herman,
        Referees,
        Walks,
        FloodMax,
        AfekGafni,
        ItaiRodeh,
    )
}
