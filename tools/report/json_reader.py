"""The one reader of JSON: what it gives is safe to use; what is wrong is named with its place.

The same rules as in tools/cli/json_reader.h: at most 16 MiB and 64 levels, every name once in an
object, numbers within float64, UTF-8 text.
"""
import json
import math
import re

from report.command_line import InputError

MAX_BYTES = 16 << 20  # of a document, or of a line where every line is one
MAX_DEPTH = 64
# Times beyond these are no measurements, and their ratios would leave the range of numbers.
LEAST_SECONDS, MOST_SECONDS = 1e-15, 1e12
MOST_NUMBER = 1e24

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACKET = re.compile(r"[\[\]{}]")


class NotJson(ValueError):
    """Says what was expected and what was found."""


def depth_of(text):
    """The deepest nesting, found without recursion."""
    depth = deepest = 0
    for bracket in BRACKET.finditer(STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def refuse_constant(name):
    raise NotJson(f"expected JSON, found {name}")


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise NotJson("expected numbers within the range of float64, found a larger one")
    return value


def whole(text):
    return int(text) if len(text) < 20 else finite(text)


def members(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJson(f"expected every name once in an object, found a second {shown(twice)}")
    return found


def parse(data):
    """The value of a JSON text, given as bytes. Raises NotJson."""
    if len(data) > MAX_BYTES:
        raise NotJson(f"expected at most {MAX_BYTES} bytes of JSON, found {len(data)}")
    if data.startswith(b"\x1f\x8b"):
        raise NotJson("expected JSON, found a gzip file (gzip -dk unpacks it)")
    try:
        text = data.decode("utf-8-sig")  # a byte order mark is no text
        if depth_of(text) > MAX_DEPTH:
            raise NotJson(f"expected at most {MAX_DEPTH} nested arrays and objects, found more")
        value = json.loads(text, object_pairs_hook=members, parse_float=finite, parse_int=whole,
                           parse_constant=refuse_constant)
        if "\\ud" in text.lower():  # half of a surrogate pair is no character
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson("expected JSON, found something else") from error


def shown(value):
    """How a message shows a value: JSON, shortened."""
    text = "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "..."


class Field:
    """A value with its place in a document. Every access checks, and raises InputError such as
    'runs.jsonl:3: case.kernel: expected text, found 7'."""

    def __init__(self, value, where, name=""):
        self.value, self.where, self.name = value, where, name

    def refuse(self, expected):
        place = f"{self.where}: {self.name}" if self.name else self.where
        raise InputError(f"{place}: expected {expected}, found {shown(self.value)}; name files that csr-bench --records "
                         "or csr-reorder --json wrote")

    def __getitem__(self, name):
        if name not in self.object():
            self.refuse(f'a member "{name}"')
        return Field(self.value[name], self.where, f"{self.name}.{name}".lstrip("."))

    def find(self, name):
        """The member, or None if it is missing or null."""
        return self[name] if self.object().get(name) is not None else None

    def object(self):
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.value

    def elements(self):
        if not isinstance(self.value, list):
            self.refuse("an array")
        return [Field(value, self.where, f"{self.name}[{i}]") for i, value in enumerate(self.value)]

    def text(self):
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def texts(self):
        return [element.text() for element in self.elements()]

    def boolean(self):
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def number(self, least=0, most=MOST_NUMBER):
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if not is_number or not least <= self.value <= most:
            self.refuse(f"a number from {least} to {most:g}")
        return self.value

    def integer(self, least=0, most=2**63 - 1):
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not least <= self.value <= most:
            self.refuse(f"a whole number from {least} to {most}")
        return self.value

    def seconds(self):
        if self.number(0, MOST_SECONDS) and self.value < LEAST_SECONDS:
            self.refuse(f"0, or a time of at least {LEAST_SECONDS:g} s")
        return self.value

    def optional(self, name, read):
        """`read` of a member that may be missing or null, else None."""
        found = self.find(name)
        return None if found is None else read(found)
