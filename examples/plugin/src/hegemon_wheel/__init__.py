"""Parts that this package adds to hegemon, one of each kind."""
