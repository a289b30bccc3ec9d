"""Engines for population protocols that know every agent."""
