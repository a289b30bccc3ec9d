"""How long a leader is held where its loss is too rare to be simulated: a weighted ensemble."""
