"""Property tests draw the same examples every time and are never judged by the clock: machines are noisy."""

import signal

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

# A shell starts its background jobs deaf to Ctrl-C, and nohup to hang-ups; so would be the commands that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
