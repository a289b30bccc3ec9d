"""The store of a study: a folder that any program can read."""
