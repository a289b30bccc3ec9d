"""Systems that the papers' tables compare with and that are not run here: published figures, and why not."""

from dataclasses import dataclass

GRADES = (
    "Grades: exact, rules of a text that was read, or textbook rules; reconstructed, from what a text says of a "
    "listing missing from it; faithful, recalled in full, single lines or constants may differ; stand-in, rules of "
    "this project with the same assumptions and resources; cited, not run."
)


@dataclass(frozen=True)
class Cited:
    """One row that stays a quotation."""

    id: str
    authors: str
    reference: str
    time: str  # as published: parallel time
    states: str
    knows: str
    reason: str

    @property
    def summary(self) -> str:
        return f"{self.authors}: {self.time} with {self.states} states; {self.reason}"


ROWS = (
    Cited(
        "izumi-2015",
        "Izumi 2015",
        "T. Izumi, On space and time complexity of loosely-stabilizing leader election, SIROCCO 2015; row [16] of "
        "Table 1 of Sudo, Eguchi, Izumi, Masuzawa, DISC 2021",
        "O(N) time, holding Ω(e^N),",
        "O(N)",
        "N ≥ n",
        "its rules could not be recovered; `timer` runs at the resources and times of the same row",
    ),
    Cited(
        "chen-chen-2019",
        "Chen and Chen 2019",
        "H.-P. Chen, H.-L. Chen, Self-stabilizing leader election, PODC 2019; row [6] of Table 1 of Yokota, Sudo, "
        "Masuzawa, IEICE Transactions 2021",
        "exponential time",
        "O(1)",
        "nothing",
        "its text was not at hand, and the token machinery is the whole difficulty",
    ),
    Cited(
        "gasieniec-stachowiak-2018",
        "Gąsieniec and Stachowiak 2018",
        "L. Gąsieniec, G. Stachowiak, Fast space optimal leader election in population protocols, SODA 2018",
        "O(log² n) time",
        "O(log log n)",
        "log log n",
        "a reconstruction from memory can lose its last leader: the safeguard against clock failures is missing",
    ),
    Cited(
        "berenbrink-2020",
        "Berenbrink, Giakkoupis, Kling 2020",
        "P. Berenbrink, G. Giakkoupis, P. Kling, Optimal time and space leader election in population protocols, "
        "STOC 2020",
        "O(log n) time",
        "Θ(log log n)",
        "log log n",
        "nine subprotocols, several of whose levels are below 1 for any n that one can simulate; not reconstructed",
    ),
    Cited(
        "yokota-2023",
        "Yokota, Sudo, Ooshita, Masuzawa 2023",
        "D. Yokota, Y. Sudo, F. Ooshita, T. Masuzawa, A near time-optimal population protocol for self-stabilizing "
        "leader election on rings with a poly-logarithmic number of states, PODC 2023",
        "O(n² log n) steps",
        "polylog(n)",
        "⌈log n⌉ + O(1)",
        "too many lines to trust memory",
    ),
)

CITED = {row.id: row for row in ROWS}
