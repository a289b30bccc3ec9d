"""How a protocol runs, exactly: one folder per family of engines."""
