"""What every engine uses: compiled code, one source of randomness, exact samplers."""
