"""Searching for protocols, with the exact chain as the judge."""
