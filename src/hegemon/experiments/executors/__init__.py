"""Where a study runs: one way to hand out work, `concurrent.futures.Executor`, and one file per place."""
