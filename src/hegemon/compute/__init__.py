"""What every engine stands on: compiled code, one source of randomness, exact samplers."""
