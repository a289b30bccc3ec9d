"""The engine for synchronous rounds in which every node reads its neighbours."""
