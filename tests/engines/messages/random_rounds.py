"""Random statements of `round`, in the language of engine `compiled` and somewhat beyond it."""

import random

NUMBERS = ("node.x", "node.y", "t", "u", "node.degree", "node.round", "len(inbox)", "self.k", "0", "1", "2", "3", "7")
LARGE = ("2**31", "2**53 + 1", "10**18", "-2**62", "self.large")
REAL = ("0.5", "self.share", "node.x / 3", "rng.random()", "1e300")


class Writer:
    """Writes one body of `round`; `real` and `large` say how often such numbers stand in it."""

    def __init__(self, rng: random.Random):
        self.rng = rng

    def number(self, depth: int) -> str:
        draw, more = self.rng.random(), lambda: self.number(depth - 1)
        if depth == 0 or draw < 0.2:
            if draw < 0.02:
                return self.rng.choice(LARGE)
            return self.rng.choice(NUMBERS)
        forms = [
            lambda: f"({more()} {self.rng.choice('+-*')} {more()})",
            lambda: f"({more()} {self.rng.choice('+-*')} {more()})",
            lambda: f"({more()} {self.rng.choice(['//', '%'])} {more()})",
            lambda: f"({more()} {self.rng.choice(['//', '%'])} {self.rng.choice(['2', '3', '-5', '(1 + node.x)'])})",
            lambda: f"({more()} if {self.test(depth - 1)} else {more()})",
            lambda: f"{self.rng.choice(['max', 'min'])}({more()}, {more()})",
            lambda: f"abs({more()})",
            lambda: f"-{more()}",
            lambda: f"int({more()} {self.rng.choice('+-*/')} {self.rng.choice([*REAL, more()])})",
            lambda: f"(({more()}) or ({more()}))",
            lambda: f"(({more()}) and ({more()}))",
            lambda: f"int({self.test(depth - 1)})",
            lambda: f"({self.test(depth - 1)})",
            lambda: f"rng.randint(0, abs({more()}))",
            lambda: f"rng.randrange({more()})",
            lambda: f"rng.getrandbits({self.rng.choice(['1', '5', '40'])})",
            lambda: f"sum(m.value for m in inbox.values() if {self.test(depth - 1)})",
            lambda: f"sum(port * {more()} for port, m in inbox.items())",
            lambda: f"max((m.value + {more()} for m in inbox.values()), default={self.rng.choice(NUMBERS)})",
            lambda: f"len([port for port in inbox if {self.test(depth - 1)}])",
            lambda: f"self.help(node, {more()}, rng)",
            lambda: f"helper({more()})",
        ]  # fmt: skip
        return self.rng.choice(forms)()

    def test(self, depth: int) -> str:
        more = lambda: self.number(max(0, depth - 1))  # noqa: E731
        forms = [
            lambda: f"{more()} {self.rng.choice(['<', '<=', '==', '!=', '>', '>='])} {more()}",
            lambda: f"{more()} < {more()} <= {more()}",
            lambda: f"{more()} in ({more()}, {more()}, {self.rng.randint(0, 3)})",
            lambda: f"{more()} not in inbox",
            lambda: f"not ({self.number(0)} < {more()})",
            lambda: f"({more()} > 1 and {more()} < 5 or {more()} == 2)",
            lambda: f"any(m.value > {more()} for m in inbox.values())",
            lambda: f"all([port < {more()} for port in inbox])",
            lambda: more(),
        ]
        return self.rng.choice(forms)()

    def statements(self, depth: int, indent: str = "") -> list[str]:
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            name = self.rng.choice(["t", "u", "node.x", "node.y"])
            value = self.number(depth)
            if name.startswith("node."):
                value = f"({value}) % 1000"
            kind = self.rng.randrange(6)
            if kind == 0:
                lines += [f"{indent}if {self.test(depth)}:", *self.statements(depth - 1, indent + "    ")]
                if self.rng.randrange(2):
                    lines += [f"{indent}else:", *self.statements(depth - 1, indent + "    ")]
            elif kind == 1 and depth > 1:
                loop = self.rng.choice(["for u in range(3):", f"for t in range({self.number(0)} % 5):",
                                        "for port, m in inbox.items():", "for port in inbox:"])  # fmt: skip
                lines += [indent + loop, *self.statements(depth - 2, indent + "    ")]
            elif kind == 2:
                lines.append(f"{indent}{name} {self.rng.choice(['+=', '-=', '*='])} {value}")
                if name.startswith("node."):
                    lines.append(f"{indent}{name} %= 1000")
            else:
                lines.append(f"{indent}{name} = {value}")
        return lines


def body(seed: int) -> str:
    writer = Writer(random.Random(seed))
    sends = writer.rng.choice(["None", "{0: self.message(value=t % 100)} if node.round < 4 else None"])
    return "\n".join(
        ["t = node.x", "u = 1", *writer.statements(2), f"node.y = (node.y + t + u) % 1000\nreturn {sends}"]
    )
