"""Datagrams: what is not authentic, fresh and of this protocol is dropped, counted and changes nothing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.errors import InvalidInput
from hegemon.network.keys import Keys, keys_from, new_key, read_keys
from hegemon.network.wire import DATAGRAM_BYTES, HEADER, STRANGERS_PER_SECOND, WINDOW, Dropped, Wire, fingerprint_of
from hegemon.protocols import Pairwise, TimeOptimal, Timer

KEYS, OTHER = Keys((bytes(range(32)),)), Keys((bytes(32),))
PRINT = fingerprint_of(Pairwise(n=8))


def wire(keys=KEYS, fingerprint=PRINT, seed=1, **options):
    return Wire(keys, fingerprint, random=random.Random(seed).randbytes, **options)


def reason(receiver, datagram, now=0.0):
    with pytest.raises(Dropped) as dropped:
        receiver.open(datagram, now)
    return dropped.value.reason


def test_what_is_sealed_is_read():
    sent = wire(seed=1).seal(3, b"exchange", bytes(range(16)), 2**63, 2**64 - 1)
    assert len(sent) == DATAGRAM_BYTES
    letter = wire(seed=2).open(sent, 0.0)
    assert letter[1:] == (3, b"exchange", bytes(range(16)), 2**63, 2**64 - 1)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 8 * DATAGRAM_BYTES - 1))
def test_a_changed_bit_is_never_accepted(bit):
    sent = bytearray(wire(seed=1).seal(0, b"exchange"))
    sent[bit // 8] ^= 1 << bit % 8
    assert reason(wire(seed=2), bytes(sent)) in {"malformed", "other_version", "other_protocol", "other_key", "forged"}


@pytest.mark.parametrize("length", [0, 1, HEADER.size, DATAGRAM_BYTES - 1, DATAGRAM_BYTES + 1, 65507])
def test_other_lengths_are_malformed(length):
    sent = wire(seed=1).seal(0, b"exchange")
    assert reason(wire(seed=2), (sent * 700)[:length]) == "malformed"


def test_replays_reflections_and_strangers():
    sender, receiver = wire(seed=1), wire(seed=2)
    sent = [sender.seal(0, b"exchange") for _ in range(2 * WINDOW)]
    for late in (3, 1, 2, 0):  # out of order is fine, twice is not
        receiver.open(sent[late], 0.0)
    assert {reason(receiver, sent[k]) for k in range(4)} == {"replayed"}
    receiver.open(sent[-1], 0.0)
    assert reason(receiver, sent[5]) == "replayed"  # too old to tell
    assert reason(sender, sent[0]) == "reflected"
    assert reason(wire(OTHER, seed=3), sent[0]) == "other_key"
    assert reason(wire(fingerprint=fingerprint_of(Timer(n=8)), seed=3), sent[0]) == "other_protocol"


def test_a_name_of_the_right_key_is_not_enough():
    forger, receiver = wire(OTHER, seed=1), wire(seed=2)
    real = wire(seed=3).seal(0, b"exchange")
    forged = forger.seal(0, b"exchange")
    assert reason(receiver, real[: HEADER.size] + forged[HEADER.size :]) == "forged"


@pytest.mark.parametrize("other", [TimeOptimal(n=65), TimeOptimal(n=64, tau=2), Timer(n=64)])
def test_parameters_are_part_of_the_fingerprint(other):
    assert fingerprint_of(other) != fingerprint_of(TimeOptimal(n=64)) == fingerprint_of(TimeOptimal(n=64))


def test_a_rotation_loses_nothing_and_lets_no_replay_through():
    both, turned = Keys(KEYS.secrets + OTHER.secrets), Keys(OTHER.secrets + KEYS.secrets)
    sender, receiver = wire(KEYS, seed=1), wire(KEYS, seed=2)
    old = sender.seal(0, b"exchange")
    receiver.open(old, 0.0)
    receiver.use(both)
    sender.use(turned)
    receiver.open(sender.seal(0, b"exchange"), 0.0)
    assert reason(receiver, old) == "replayed"
    receiver.use(OTHER)
    assert reason(receiver, old) == "other_key"
    receiver.open(sender.seal(0, b"exchange"), 0.0)


def test_memory_and_work_are_bounded():
    receiver = wire(seed=2, most_senders=10)
    for seed in range(100, 130):
        receiver.open(wire(seed=seed).seal(0, b"exchange"), float(seed))
    assert len(receiver._senders) == 10
    garbage = [wire(OTHER, seed=seed).seal(0, b"exchange") for seed in range(10, 30)]
    name = HEADER.unpack_from(wire().seal(0, b"exchange"))[2]
    forged = [sent[:3] + name + sent[7:] for sent in garbage]
    reasons = [reason(receiver, forged[k % 20], now=1000.0) for k in range(2 * STRANGERS_PER_SECOND)]
    assert reasons.count("flood") == STRANGERS_PER_SECOND == reasons.count("forged")
    assert len(receiver._senders) == 10


def test_key_files(tmp_path):
    path = tmp_path / "key"
    first, second = new_key(), new_key()
    path.write_text(f"# a rotation\n{first}\n\n{second}\n")
    assert read_keys(path) == keys_from([first, bytes.fromhex(second)])
    assert first not in repr(read_keys(path))
    for text in ("", "00", "zz" * 32, "00" * 32 + "\n" + "00" * 32, "\n".join(new_key() for _ in range(9))):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_keys(path)
    for nothing in (tmp_path / "none", tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read"):
            read_keys(nothing)
