"""What `hegemon new` writes: one protocol per model, each of which runs at once."""
