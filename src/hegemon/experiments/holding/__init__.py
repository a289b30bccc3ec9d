"""How long a leader is held, when nobody can wait for its loss: rare events by a weighted ensemble."""
