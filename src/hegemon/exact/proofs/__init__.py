"""Proofs for every n at once, as certificates that a separate checker confirms."""
