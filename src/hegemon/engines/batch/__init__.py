"""The engine for complete graphs that knows only how many agents are in which state."""
