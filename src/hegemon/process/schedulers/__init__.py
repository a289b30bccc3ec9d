"""Who acts next: one file per scheduler; `scheduler` is the contract."""
