"""Generated command lines, files and user protocols: whatever is typed ends well, or in one sentence.

`python -m tests.fuzz 10000` tries so many and prints the counts.
"""
