"""The claims of each paper, one file per paper."""
