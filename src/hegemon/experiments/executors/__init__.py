"""Where a study runs. Work is handed out through `concurrent.futures.Executor`; there is one file per kind of place."""
