"""Message passing, exactly: every outcome of every coin, as a distribution over what all nodes know."""
