"""What a graph may be in Python: read by the doors of public functions, without loading NumPy."""

from hegemon import doors

GRAPH = (
    doors.text
    | doors.path
    | doors.instance("a Topology or a NetworkX graph", "hegemon.graphs.topology:Topology", "networkx:Graph")
)
