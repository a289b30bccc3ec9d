"""What every engine stands on: compiled code, one source of randomness, exact samplers."""

from hegemon.compute.numba_start import load

load()
