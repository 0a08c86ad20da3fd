"""What ran, as a build with --coverage counts it: the graphs that GCC writes beside objects (.gcno), with the counts of the
runs (.gcda).

gcov shows the ways that exceptions take as branches, too: of every temporary that they would destroy, and one of every
call that could throw. Here a branch is one of two or more ways on from a place of the source, exceptions aside."""
import collections
import dataclasses
import struct

FUNCTION, BLOCKS, ARCS, LINES, COUNTS = 0x01000000, 0x01410000, 0x01430000, 0x01450000, 0x01a10000
ON_TREE, FAKE, FALL_THROUGH = 1, 2, 4
ENTRY, EXIT = 0, 1
VERSION = b"B2"  # GCC 12, whose lengths are bytes; others differ


class OtherFormat(Exception):
    """Not of the compiler whose files this reads."""


class Reader:
    def __init__(self, path, magic):
        self.data = path.read_bytes()
        self.at = 8
        if self.data[:4] != magic[::-1] or self.data[6:8] != VERSION[::-1]:
            raise OtherFormat(f"{path} is not of GCC 12: {self.data[:8]!r}")
        self.stamp = self.number()  # the same in the notes and the counts of one compilation
        self.skip(4)

    def skip(self, count):
        self.at += count

    def number(self, form="<I"):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        length = self.number()
        value = self.data[self.at:self.at + length].rstrip(b"\0").decode()
        self.at += length
        return value

    def records(self):
        """(tag, length) of each; the reader stands at its content, and goes on behind it."""
        while self.at + 8 <= len(self.data):
            tag, length = self.number(), self.number("<i")
            if tag == 0:
                return
            after = self.at + max(length, 0)
            yield tag, length
            self.at = after


@dataclasses.dataclass(eq=False)
class Arc:
    source: int
    target: int
    flags: int
    is_throw: bool = False
    count: int = -1  # not known yet

    def is_real(self):
        return not self.flags & FAKE and not self.is_throw


class Function:
    def __init__(self):
        self.arcs, self.places = [], collections.defaultdict(list)  # block -> (file, line)
        self.blocks = 0

    def count_from(self, counts):
        """Arcs outside of a spanning tree were counted; the others follow, for what goes into a block comes out."""
        for arc, count in zip((arc for arc in self.arcs if not arc.flags & ON_TREE), counts):
            arc.count = count
        ways = [([], []) for _ in range(self.blocks)]  # into a block, and out of it
        for arc in self.arcs:
            ways[arc.target][0].append(arc)
            ways[arc.source][1].append(arc)
        work = list(range(self.blocks))
        while work:
            block = work.pop()
            into, out = ways[block]
            for known, other in ((into, out), (out, into)):
                if not known or any(arc.count < 0 for arc in known) or not other:
                    continue
                unknown = [arc for arc in other if arc.count < 0]
                if len(unknown) == 1:
                    unknown[0].count = sum(arc.count for arc in known) - sum(arc.count for arc in other if arc.count > 0)
                    work += [unknown[0].source, unknown[0].target]

    def without_exceptions(self):
        """Blocks that are reached without one."""
        targets = collections.defaultdict(list)
        for arc in self.arcs:
            if arc.is_real():
                targets[arc.source].append(arc.target)
        seen, work = {ENTRY}, [ENTRY]
        while work:
            for block in targets[work.pop()]:
                if block not in seen:
                    seen.add(block)
                    work.append(block)
        return seen

    def count_of(self, block):
        """How often a block ran: what goes into it, of exceptions, too."""
        return sum(max(arc.count, 0) for arc in self.arcs if arc.target == block)

    def branches(self):
        """(place, how often each way on was taken) for each block with several; what only unwinds is left out."""
        normal = self.without_exceptions()
        normal_places = {place for block in normal for place in self.places[block]}
        ways = collections.defaultdict(list)
        for arc in self.arcs:
            if arc.is_real():
                ways[arc.source].append(max(arc.count, 0))
        for block, counts in sorted(ways.items()):
            if len(counts) < 2 or not self.places[block]:
                continue
            place = self.places[block][-1]
            if block in normal or place not in normal_places:  # a handler has lines of its own
                yield place, counts


def read_functions(path):
    """The functions of an object, with the counts of its runs, if there were any since it was compiled."""
    stamp, functions = read_notes(path)
    counts = path.with_suffix(".gcda")
    if counts.exists():
        read_counts(counts, stamp, functions)
    return functions.values()


def read_notes(path):
    reader, functions, function = Reader(path, b"gcno"), {}, None
    reader.text()  # the folder
    reader.skip(4)
    for tag, length in reader.records():
        if tag == FUNCTION:
            function = functions[reader.number()] = Function()
        elif tag == BLOCKS:
            function.blocks = reader.number()
        elif tag == ARCS:
            source = reader.number()
            arcs = [Arc(source, reader.number(), reader.number()) for _ in range((length // 4 - 1) // 2)]
            is_call = source != ENTRY and any(arc.flags & FAKE for arc in arcs)
            for arc in arcs:  # GCC's own rule: beside a call's return, what is no fall-through is a handler
                arc.is_throw = is_call and not arc.flags & (FAKE | FALL_THROUGH)
            function.arcs += arcs
        elif tag == LINES:
            block, file = reader.number(), ""
            while True:
                line = reader.number()
                if line:
                    function.places[block].append((file, line))
                else:
                    file = reader.text()
                    if not file:
                        break
    return reader.stamp, functions


def read_counts(path, stamp, functions):
    reader, function = Reader(path, b"gcda"), None
    if reader.stamp != stamp:
        return
    for tag, length in reader.records():
        if tag == FUNCTION:
            function = functions.get(reader.number()) if length else None
        elif tag == COUNTS and function is not None:
            counted = sum(not arc.flags & ON_TREE for arc in function.arcs)
            function.count_from([reader.number("<Q") for _ in range(length // 8)] if length >= 0 else [0] * counted)
