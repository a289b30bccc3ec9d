"""The papers' transition functions, read a second time: dictionaries and loops over i in {0, 1}, no shared code.

Each function takes two dictionaries and the parameters and answers two new dictionaries.
"""


def threshold(a, b, p):
    total = a["x"] + b["x"]
    return ({"x": total}, {"x": 0}) if total < p["k"] else ({"x": p["k"]}, {"x": p["k"]})


def pairwise(a, b, p):
    table = {(1, 1): (1, 0)}
    new = table.get((a["leader"], b["leader"]), (a["leader"], b["leader"]))
    return {"leader": new[0]}, {"leader": new[1]}


def timer(a, b, p):
    s = p["s"]
    left, right = (a["leader"], a["timer"]), (b["leader"], b["timer"])
    if left[0] == 1:
        new = (1, s), (0, s)
    elif right[0] == 1:
        new = (0, s), (1, s)
    elif left[1] == 0 and right[1] == 0:
        new = (1, s), (0, s)
    else:
        high = max(left[1], right[1]) - 1
        new = (0, high), (0, high)
    return tuple({"leader": leader, "timer": time} for leader, time in new)


def epidemic(a, b, p):
    return ({"x": max(a["x"], b["x"])},) * 2


def countdown(a, b, p):
    return ({"y": max(a["y"] - 1, b["y"] - 1, 0)},) * 2


def quick_elimination(a, b, p):
    pair = [dict(a), dict(b)]
    _lottery(pair, [0, 1], p)
    return tuple(pair)


def _lottery(pair, electors, p):
    """The coin of agent 0 shows head, that of agent 1 tail; then decided agents compare levels."""
    for i in electors:
        if pair[i]["leader"] and not pair[i]["done"]:
            if i == 0:
                pair[i]["level"] = min(pair[i]["level"] + 1, 2 * p["m"])
            else:
                pair[i]["done"] = 1
    if len(electors) == 2 and all(not agent["leader"] or agent["done"] for agent in pair):
        top = max(agent["level"] for agent in pair)
        for agent in pair:
            if agent["level"] != top:
                agent["level"], agent["leader"] = top, 0


def time_optimal(a, b, p):
    """Algorithm 2 with the resets of Table 2, on states that hold only the variables of their class."""
    pair = [dict(a), dict(b)]

    def in_b(i):
        return pair[i]["phase"] == "EL" and pair[i]["mode"] == "B"

    def in_a(i):
        return pair[i]["phase"] == "EL" and pair[i]["mode"] == "A"

    def enter(i, phase, mode=None):
        leader = pair[i]["leader"]
        if phase == "CH":
            pair[i] = {"leader": leader, "phase": "CH", "timer_r": p["r_max"], "detect": leader}
        elif mode == "A":
            pair[i] = {"leader": leader, "phase": "EL", "mode": "A", "level": 0, "done": 0}
        else:
            pair[i] = {"leader": leader, "phase": "EL", "mode": "B", "timer_b": p["b_max"]}

    def go_to_election(i):
        if pair[i]["detect"] == 0:
            pair[i]["leader"] = 1
        enter(i, "EL", "A")

    phases = lambda: [agent["phase"] for agent in pair]  # noqa: E731
    for i in (0, 1):  # line 1
        if in_b(i):
            pair[i]["leader"] = 0
    if phases() == ["CH", "CH"]:  # lines 2-6
        detect = max(agent["detect"] for agent in pair)
        time = max(pair[0]["timer_r"] - 1, pair[1]["timer_r"] - 1, 0)
        for agent in pair:
            agent["detect"], agent["timer_r"] = detect, time
        if time == 0:
            go_to_election(0)
            go_to_election(1)
    else:
        line9 = [i for i in (0, 1) if phases()[i] == "CH" and phases()[1 - i] == "EL"]
        line7 = [1 - i for i in line9 if pair[i]["timer_r"] >= p["r_mid"]]
        if line7:
            enter(line7[0], "CH")
        elif line9:
            go_to_election(line9[0])
    if phases() == ["EL", "EL"]:  # line 11
        if in_a(0) and in_a(1) and pair[0]["leader"] == pair[1]["leader"] == 0 and pair[0]["level"] == pair[1]["level"]:
            enter(1, "EL", "B")  # line 13
        elif in_b(0) and in_b(1):  # line 15: the largest j whose timer is not below the other's
            enter(max(j for j in (0, 1) if pair[j]["timer_b"] >= pair[1 - j]["timer_b"]), "EL", "A")
        _lottery(pair, [i for i in (0, 1) if in_a(i)], p)  # line 16
        done = [in_a(i) and pair[i]["leader"] == 1 and pair[i]["done"] == 1 for i in (0, 1)]
        if all(done) and pair[0]["level"] == pair[1]["level"]:  # line 17
            pair[1]["leader"] = 0
        for i in (0, 1):  # line 18
            if in_b(i):
                pair[i]["timer_b"] = max(pair[i]["timer_b"] - 1, 0)
        for i in (0, 1):  # line 19
            if in_b(i) and pair[i]["timer_b"] == 0:
                enter(i, "CH")
    return tuple(pair)


def ring(left, right, p):
    """Algorithm 1: simultaneous within a line, one line after the other."""
    l, r, n = dict(left), dict(right), p["N"]  # noqa: E741
    l["distL"] = 0 if l["leader"] == 1 else l["distL"]
    r["distL"] = 0 if r["leader"] == 1 else min(l["distL"] + 1, n) if r["leader"] == r["bullet"] == 0 else r["distL"]
    if r["distL"] == n:
        r.update(leader=1, distL=0)
        r.update(bullet=2, shield=1, signal=0)
    if l["leader"] == l["signal"] == 1:
        l.update(bullet=2, shield=1, signal=0)
    if r["leader"] == r["signal"] == 1:
        r.update(bullet=1, shield=0, signal=0)
    if l["bullet"] > 0 and r["leader"] == 1:
        r["leader"] = 0 if l["bullet"] == 2 and r["shield"] == 0 else 1
        l["bullet"] = 0
    elif l["bullet"] > 0 and r["leader"] == 0:
        r["bullet"] = l["bullet"] if r["bullet"] == 0 else r["bullet"]
        l.update(bullet=0)
        r.update(signal=0)
    l["signal"] = max(l["signal"], r["signal"], r["leader"])
    return l, r
