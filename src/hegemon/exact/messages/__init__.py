"""Message passing, exactly: every outcome of every coin, as a distribution over the states of all nodes."""
