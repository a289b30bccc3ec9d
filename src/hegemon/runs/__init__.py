"""One course of a run: start, faults, driver, stop, record; and many trials."""
