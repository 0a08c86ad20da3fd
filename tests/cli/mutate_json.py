"""Runs a tool on mutations of a JSON file: mutate_json.py SEED COUNT COMMAND... with @ for the file.

Fails if one ends with a code that is not documented for bad input (0 to 4), or without a sentence."""
import json
import random
import subprocess
import sys

ODD = (None, True, -1, 0, 7, 0.5, 1e308, -1e308, 1e-310, 2**31, 2**63, 2**64, 10**30, "", "x", "\x1b[31m", "$x^$",
       "cpu.spmm.auto", "a|b<img onerror=x>", "warm", [], [1], ["x"], [[]], {}, {"a": 1}, [None] * 3)


def places(value, path=()):
    yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, element in steps:
        yield from places(element, (*path, step))


def structural(text, chance):
    """Another value, no value, or one more, somewhere in a random line."""
    lines = text.splitlines()
    whole = len(lines) == 1 or not lines[0].endswith("}")
    at = 0 if whole else chance.randrange(len(lines))
    value = json.loads(text if whole else lines[at])
    *path, last = chance.choice([place for place in places(value) if place])
    parent = value
    for step in path:
        parent = parent[step]
    how = chance.random()
    if how < 0.2:
        del parent[last]
    elif how < 0.3 and isinstance(parent, dict):
        parent[chance.choice(("", "new", "kernel"))] = chance.choice(ODD)
    else:
        parent[last] = chance.choice(ODD)
    made = json.dumps(value)
    return made if whole else "\n".join([*lines[:at], made, *lines[at + 1:]]) + "\n"


def textual(text, chance):
    """Bytes changed, cut, doubled, or what JSON has no place for."""
    at = chance.randrange(len(text))
    odd = chance.choice(("NaN", "1e9999", "[" * 70, "{\"a\":" * 70, "\"a\":1,\"a\":1,", "\\ud800", "\0", "\x7f", "}", ",", "\n"))
    return chance.choice((text[:at], text[:at] + odd + text[at:], text[:at] + odd + text[at + 1:],
                          text[:at] + text[at // 2:]))


def main():
    seed, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    chance = random.Random(f"{seed} {command[0]}")
    text = open(seed, encoding="utf-8").read()
    codes = {}
    for number in range(count):
        made = structural(text, chance) if chance.random() < 0.75 else textual(text, chance)
        with open("mutated.json", "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(made + ("" if made.endswith("\n") else "\n"))
        done = subprocess.run([word.replace("@", "mutated.json") for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        codes[done.returncode] = codes.get(done.returncode, 0) + 1
        if done.returncode not in (0, 1, 2, 3, 4) or (done.returncode > 1 and b": error: " not in done.stderr):
            sys.exit(f"mutation {number} of {seed}: {command} ended with {done.returncode}: {done.stderr[-600:]!r}\n{made[:3000]}")
    if codes.get(3, 0) < count // 10:
        sys.exit(f"{seed}, {command}: the mutations break nothing: {codes}")


if __name__ == "__main__":
    main()
