"""The page: one run watched in a browser, disturbed, stepped through, and kept as a film."""
