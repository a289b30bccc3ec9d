"""What a command said on its error stream besides progress, which depends on how quick the machine is."""


def is_one_sentence(said: str) -> bool:
    lines = [line for line in said.splitlines() if not line.startswith("…")]
    return len(lines) == 1 and said.endswith("\n")
