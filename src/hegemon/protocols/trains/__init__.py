"""Informative Trains: the protocol, its legitimate set, its starts and the values of its trains."""
