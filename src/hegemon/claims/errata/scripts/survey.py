"""Y. Sudo, Leader Election in Population Protocol Model (survey, in Japanese), section 4: the number of states of the
election by timeout. Needs Python alone.

    python survey.py
"""

from itertools import product


def main():
    for N in (1, 4, 10):
        s = 96 * N
        states = len(list(product("lf", range(s + 1))))  # a leader bit, and a timer with the values 0 to s
        print(f"N = {N}: {states} states, where the paper has 192N = {192 * N}")
        assert states == 192 * N + 2


if __name__ == "__main__":
    main()
