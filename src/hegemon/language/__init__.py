"""How an author's code is read: one small form with lines, one meaning, which is Python's."""
