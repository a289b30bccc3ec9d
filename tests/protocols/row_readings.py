"""The compared systems' rules, read a second time as dictionaries: no code is shared with the catalogue."""

from copy import deepcopy


def optimal_silent(a, b, p):
    pair = [_counted(a), _counted(b)]
    roles = [agent["role"] for agent in pair]
    if "RESETTING" in roles:
        # 1.1 recruiting
        for i in (0, 1):
            if roles[i] == "RESETTING" and roles[1 - i] != "RESETTING" and pair[i]["resetcount"] > 0:
                pair[1 - i] = {"role": "RESETTING", "resetcount": 0, "delay": p["d_max"], "leader": 1}
        both = all(agent["role"] == "RESETTING" for agent in pair)
        old = [agent.get("resetcount") for agent in pair]
        # 1.2 the counts
        if both:
            new = max(old[0] - 1, old[1] - 1, 0)
            for agent in pair:
                agent["resetcount"] = new
        # 1.3 the dormant
        for agent, before in zip(pair, old, strict=True):
            if agent["role"] == "RESETTING" and agent["resetcount"] == 0:
                agent["delay"] = p["d_max"] if before > 0 else max(agent["delay"] - 1, 0)
        # 1.4 waking up
        for i, agent in enumerate(pair):
            if agent["role"] == "RESETTING" and agent["resetcount"] == 0 and (agent["delay"] == 0 or not both):
                woken = {"role": "SETTLED", "rank": 0, "children": 0}
                pair[i] = woken if agent["leader"] == 1 else {"role": "UNSETTLED", "error": p["e_max"]}
        # 1.5 the slow election
        if all(agent["role"] == "RESETTING" and agent["leader"] == 1 for agent in pair):
            pair[1]["leader"] = 0
        return tuple(map(_shown, pair))
    fresh = {"role": "RESETTING", "resetcount": p["r_max"], "leader": 1}
    if roles == ["SETTLED", "SETTLED"]:
        return tuple(map(_shown, (fresh, dict(fresh)))) if a["rank"] == b["rank"] else (a, b)
    for i in (0, 1):
        s, u = pair[i], pair[1 - i]
        if s["role"] == "SETTLED" and u["role"] == "UNSETTLED" and s["children"] < 2:
            child = 2 * s["rank"] + s["children"] + 1
            if child < p["n"]:
                s["children"] += 1
                pair[1 - i] = {"role": "SETTLED", "rank": child, "children": 0}
                return tuple(pair)
    impatient = False
    for agent in pair:
        if agent["role"] == "UNSETTLED":
            agent["error"] = max(agent["error"] - 1, 0)
            impatient = impatient or agent["error"] == 0
    return tuple(map(_shown, (fresh, dict(fresh)))) if impatient else tuple(pair)


def _counted(agent):
    """The catalogue tells the dormant by a bit of their own; the rules by resetcount = 0."""
    agent = deepcopy(agent)
    if agent["role"] == "RESETTING" and agent.pop("dormant") == 1:
        agent["resetcount"] = 0
    return agent


def _shown(agent):
    if agent["role"] != "RESETTING":
        return agent
    kept = {"role": "RESETTING", "leader": agent["leader"]}
    if agent["resetcount"] == 0:
        return kept | {"dormant": 1, "delay": agent["delay"]}
    return kept | {"dormant": 0, "resetcount": agent["resetcount"]}


def war_timer(a, b, p):
    pair = [dict(a), dict(b)]
    if a["leader"] + b["leader"] > 0:
        time = p["T"]
    elif a["timer"] == b["timer"] == 0:
        time = p["T"]
        pair[0] |= {"leader": 1, "wait": p["W"], "shield": 0}
    else:
        time = max(a["timer"], b["timer"]) - 1
    virus = max(max(a["virus"], b["virus"]) - 1, 0)
    for role, agent in enumerate(pair):
        agent |= {"timer": time, "virus": virus}
        if agent["leader"] and virus > 0 and not agent["shield"]:
            agent["leader"] = 0
        if not agent["leader"]:
            agent.pop("wait", None), agent.pop("shield", None)
        elif agent["wait"] > 0:
            agent["wait"] -= 1
        else:
            agent["wait"] = p["W"]
            agent["shield"] = 1 - role
            if role == 0:
                agent["virus"] = p["V"]
    return tuple(pair)


def odd_ring(left, right, p):
    right = dict(right)
    wanted = (left["label"] + 1) % p["k"]
    if right["label"] == wanted:
        right["coin"] ^= 1
    else:
        right["label"] = wanted
        if right["colour"] == left["colour"]:
            right |= {"leader": 1, "colour": (right["colour"] + 1 + right["coin"]) % 3}
        else:
            right |= {"leader": 0, "colour": left["colour"]}
    return left, right


def dijkstra(left, right, p):
    """Machine 0 counts on when it has its neighbour's number; any other machine copies a number that differs."""
    if right["special"] and left["x"] == right["x"]:
        return left, right | {"x": (right["x"] + 1) % p["K"]}
    return left, (right if right["special"] else right | {"x": left["x"]})


def ag(a, b, p):
    x, y = a["value"], b["value"]
    survivor = 0 if a["leader"] and x >= y else 1 if b["leader"] and y >= x else None
    result = [{"leader": 0, "value": max(x, y)}, {"leader": 0, "value": max(x, y)}]
    if survivor is not None:
        result[survivor] = {"leader": 1, "value": min((x, y)[survivor] + 1, p["m"])}
    return tuple(result)


def bk(a, b, p):
    x, y = a["value"], b["value"]
    survivor = 0 if a["leader"] and x >= y else 1 if b["leader"] and y >= x else None
    result = [{"leader": 0, "value": max(x, y)}, {"leader": 0, "value": max(x, y)}]
    if survivor == 0:
        heads = a["run"] + 1
        grown = {"value": min(x + 1, p["top"]), "run": 0} if heads == p["r"] else {"value": x, "run": heads}
        result[0] = {"leader": 1, **grown}
    if survivor == 1:
        result[1] = {"leader": 1, "value": y, "run": 0}
    return tuple(result)


def approximate_majority(a, b, p):
    table = {("X", "Y"): "BLANK", ("Y", "X"): "BLANK", ("X", "BLANK"): "X", ("Y", "BLANK"): "Y"}
    return a, {"opinion": table.get((a["opinion"], b["opinion"]), b["opinion"])}


def exact_majority(a, b, p):
    table = {
        ("STRONG_X", "STRONG_Y"): ("WEAK_X", "WEAK_Y"),
        ("STRONG_X", "WEAK_Y"): ("STRONG_X", "WEAK_X"),
        ("STRONG_Y", "WEAK_X"): ("STRONG_Y", "WEAK_Y"),
    }
    table |= {(b, a): (d, c) for (a, b), (c, d) in table.items()}
    one, other = table.get((a["opinion"], b["opinion"]), (a["opinion"], b["opinion"]))
    return {"opinion": one}, {"opinion": other}


def p_ll(a, b, p):
    pair = [{"epoch": 1, "colour": 0, **a}, {"epoch": 1, "colour": 0, **b}]
    if a["status"] == b["status"] == "X":
        pair[0] |= {"status": "A", "level": 0, "done": 0}
        pair[1] |= {"status": "B", "leader": 0, "counter": 0}
    else:
        for agent in pair:
            if agent["status"] == "X":
                agent |= {"status": "A", "leader": 0, "level": 0, "done": 1}
    ticked = set()
    for i, agent in enumerate(pair):
        if agent["status"] == "B":
            agent["counter"] += 1
            if agent["counter"] == p["c_max"]:
                agent |= {"counter": 0, "colour": (agent["colour"] + 1) % 3}
                ticked.add(i)
    colours = [agent["colour"] for agent in pair]
    for i in (0, 1):
        if colours[1 - i] == (colours[i] + 1) % 3:
            pair[i]["colour"] = colours[1 - i]
            ticked.add(i)
            if pair[i]["status"] == "B":
                pair[i]["counter"] = 0
    epoch = max(min(agent["epoch"] + (i in ticked), 4) for i, agent in enumerate(pair))
    for agent in pair:
        init, agent["epoch"] = agent["epoch"], epoch
        if init < epoch:
            if agent["status"] == "A" and epoch in (2, 3):
                agent |= {"rand": 0, "index": 0 if agent["leader"] else p["phi"]}
            if agent["status"] == "A" and epoch == 4:
                agent["level"] = 0
    electors = [agent["status"] == "A" for agent in pair]
    leads = [agent["leader"] for agent in pair]
    for i, agent in enumerate(pair):
        if electors[i] and leads[i] and not leads[1 - i]:
            if epoch == 1 and agent["done"] == 0:
                if i == 0:
                    agent["level"] = min(agent["level"] + 1, p["l_max"])
                else:
                    agent["done"] = 1
            if epoch in (2, 3) and agent["index"] < p["phi"]:
                agent |= {"rand": 2 * agent["rand"] + (i == 0), "index": agent["index"] + 1}
            if epoch == 4 and i == 0 and i in ticked:
                agent["level"] = min(agent["level"] + 1, p["l_max"])
    key = "rand" if epoch in (2, 3) else "level"
    ready = {1: lambda x: x["done"] == 1, 4: lambda x: True}.get(epoch, lambda x: x["index"] == p["phi"])
    if all(electors) and all(map(ready, pair)) and pair[0][key] != pair[1][key]:
        low, high = sorted(pair, key=lambda x: x[key])
        low |= {"leader": 0, key: high[key]}
    if epoch == 4 and pair[0]["leader"] and pair[1]["leader"]:
        pair[1]["leader"] = 0
    return tuple(_kept(agent) for agent in pair)


def _kept(agent):
    """The fields of the class that the agent is in now."""
    names = ["leader", "status", "epoch", "colour"]
    if agent["status"] == "B":
        names.append("counter")
    if agent["status"] == "A":
        names += {1: ["level", "done"], 4: ["level"]}.get(agent["epoch"], ["rand", "index"])
    return {name: int(agent[name]) if name != "status" else agent[name] for name in names}
