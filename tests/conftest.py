"""Property tests draw the same examples every time and are never judged by the clock: machines are noisy."""

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
