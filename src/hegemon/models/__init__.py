"""What a protocol is: fields, parameters, starts and sets, in three models of computation."""

from hegemon.models.assumptions import Assumption
from hegemon.models.configuration import Configuration, Group
from hegemon.models.domains import Array, Bit, Choice, Coin, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol
from hegemon.models.objects import ObjectProtocol
from hegemon.models.observables import count, maximum, mean, minimum, overall
from hegemon.models.parameters import Parameter
from hegemon.models.population import PopulationProtocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.sets import at_least, at_most, everywhere, exactly, nowhere, whole

__all__ = [
    "Array",
    "Assumption",
    "Bit",
    "Choice",
    "Coin",
    "Configuration",
    "ELECTED",
    "Group",
    "MessageProtocol",
    "NON_ELECTED",
    "RoundsProtocol",
    "ObjectProtocol",
    "Parameter",
    "PopulationProtocol",
    "Range",
    "at_least",
    "at_most",
    "count",
    "everywhere",
    "exactly",
    "maximum",
    "mean",
    "minimum",
    "nowhere",
    "overall",
    "whole",
]
