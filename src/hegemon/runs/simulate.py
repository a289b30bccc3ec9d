"""The front door of the engines: one call for every model of computation."""

from hegemon.errors import InvalidInput
from hegemon.runs.messages import simulate_messages
from hegemon.runs.objects import simulate_objects
from hegemon.runs.population import simulate_population
from hegemon.runs.rounds import simulate_rounds
from hegemon.runs.run import Run

MODELS = {
    "population": simulate_population,
    "rounds": simulate_rounds,
    "message": simulate_messages,
    "objects": simulate_objects,
}


def simulate(protocol, **options) -> Run:
    """Run a protocol until its stop is met: see the function of its model for the options."""
    if protocol.model not in MODELS:
        raise InvalidInput(f"{protocol.id} has the unknown model {protocol.model!r}; known are {', '.join(MODELS)}")
    return MODELS[protocol.model](protocol, **options)
