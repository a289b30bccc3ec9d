"""What reads or changes more than its arguments is refused, with its line."""

import datetime
import math
import random
import time
from random import randrange

import numpy as np
import pytest
from numpy.random import randint

from hegemon.errors import InvalidInput
from hegemon.models.purity import impurities
from tests.models.population_protocols import own

TABLE = (0, 1, 1)
FROZEN = np.array([0, 1])
FROZEN.flags.writeable = False
memory = [0]
counter = 0
generator = np.random.default_rng(0)
lookup = {0: 1}


def helper(a):
    a.x = randrange(2)


def pure_helper(a, p):
    return max(a.x, TABLE[1]) % 2 + int(FROZEN[0]) + math.floor(0.5)


def calls_random(a, b, p):
    a.x = random.randrange(2)


def calls_numpy(a, b, p):
    a.x = np.random.randint(2)


def calls_imported(a, b, p):
    a.x = randint(2)


def calls_helper(a, b, p):
    if a.x == 1:
        helper(b)


def calls_generator(a, b, p):
    a.x = generator.integers(2)


def calls_time(a, b, p):
    a.x = int(time.time()) % 2


def calls_date(a, b, p):
    a.x = datetime.datetime.now().second % 2


def writes_global(a, b, p):
    global counter
    counter += 1
    a.x = counter % 2


def writes_list(a, b, p):
    memory[0] += 1
    a.x = memory[0] % 2


def reads_dictionary(a, b, p):
    a.x = lookup[0]


def writes_attribute(a, b, p):
    helper.calls = 1
    a.x = 1


def reads_identity(a, b, p):
    a.x = id(a) % 2


def imports(a, b, p):
    import secrets

    a.x = secrets.randbelow(2)


def in_a_lambda(a, b, p):
    a.x = (lambda: random.randrange(2))()


def around():
    calls = 0

    def closes(a, b, p):
        nonlocal calls
        calls += 1
        a.x = calls % 2

    return closes


def pure(a, b, p):
    a.x = pure_helper(b, p)


IMPURE = [
    (calls_random, "calls random.randrange"),
    (calls_numpy, "calls np.random.randint"),
    (calls_imported, "calls randint"),
    (calls_helper, "calls randrange"),
    (calls_generator, "calls generator"),
    (calls_time, "calls time.time"),
    (calls_date, "calls datetime.datetime.now"),
    (writes_global, "changes the global variable counter"),
    (writes_list, "reads memory, an object that can change"),
    (reads_dictionary, "reads lookup"),
    (writes_attribute, "changes helper.calls"),
    (reads_identity, "calls id"),
    (imports, "imports secrets"),
    (in_a_lambda, "calls random.randrange"),
    (around(), "changes calls, a variable"),
]


@pytest.mark.parametrize(("body", "part"), IMPURE, ids=lambda value: getattr(value, "__name__", None))
def test_what_reads_more_than_its_arguments_is_refused_with_its_line(body, part):
    with pytest.raises(InvalidInput, match=part + r".*\(test_purity.py, line \d+\)"):
        own(body)(n=4).require_sound()


def test_calculating_is_allowed():
    assert list(impurities(pure)) == []
    own(pure)(n=4).require_sound()


def test_what_hides_from_analysis_is_found_by_trial():
    class Hidden:  # an attribute of an argument: nothing in the code says where it leads
        def __init__(self):
            self.state = 0

        def __call__(self):
            self.state += 1
            return self.state % 2

    def hides(a, b, p):
        a.x = p.draw()

    assert list(impurities(hides)) == []
    protocol = own(hides)(n=4)
    protocol.__dict__["checked_p"] = type("P", (), {"draw": Hidden()})()
    with pytest.raises(InvalidInput, match="returns something else at a second call"):
        protocol.require_sound()
