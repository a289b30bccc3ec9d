"""Engine `compiled`: an author's `begin` and `round` as machine code."""
