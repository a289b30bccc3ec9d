"""Engines for synchronous message passing."""
