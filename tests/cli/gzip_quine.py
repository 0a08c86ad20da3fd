"""A gzip file that inflates to itself, or to itself twice, so that unpacking what comes out never ends.

    gzip_quine.py COPIES FILE

The program of literals (L) and repetitions (R) that prints itself is Russ Cox's idea ("Zip Files All The Way
Down", 2010). Every operation takes 5 bytes, so L4 prints the next 4 operations, and R4 the last 4 once more.
The checksum is in the file that it is of; CRC-32 is affine, so 32 equations tell which one holds.
"""
import gzip
import struct
import sys
import zlib

UNIT = 5  # bytes of an operation
TAIL = 15  # bytes behind the program, the checksum and the size included
FILE_BYTES = 164


class Bits:
    def __init__(self):
        self.bits = []

    def number(self, value, count):
        self.bits += [value >> i & 1 for i in range(count)]
        return self

    def code(self, value, count):
        self.bits += [value >> i & 1 for i in reversed(range(count))]
        return self

    def packed(self):
        self.bits += [0] * (-len(self.bits) % 8)
        return bytes(sum(bit << i for i, bit in enumerate(self.bits[at:at + 8])) for at in range(0, len(self.bits), 8))


def ranges(first, count_of_each, last_extra):
    """(smallest value, extra bits) of each code: RFC 1951, 3.2.5."""
    table = list(first)
    for extra in range(1, last_extra + 1):
        for _ in range(count_of_each):
            table.append((table[-1][0] + (1 << table[-1][1]), extra))
    return table


LENGTHS = ranges([(3 + i, 0) for i in range(8)], 4, 5)
DISTANCES = ranges([(1 + i, 0) for i in range(4)], 2, 13)


def match(bits, length, distance):
    at = max(i for i, (smallest, _) in enumerate(LENGTHS) if smallest <= length)
    bits.code(at + 1, 7) if at < 23 else bits.code(0b11000000 + at - 23, 8)
    bits.number(length - LENGTHS[at][0], LENGTHS[at][1])
    at = max(i for i, (smallest, _) in enumerate(DISTANCES) if smallest <= distance)
    bits.code(at, 5)
    bits.number(distance - DISTANCES[at][0], DISTANCES[at][1])


def fixed_block(bits, is_last=False):
    return bits.number(1 if is_last else 0, 1).number(1, 2)


def end_of_block(bits):
    bits.code(0, 7)


def literal(count):
    return b"\0" + struct.pack("<HH", count, count ^ 0xffff)


def repeat(count):
    bits = fixed_block(Bits())
    for part in (count // 2, count - count // 2):
        match(bits, part, count)
    end_of_block(bits)
    return bits.packed()


def file_with(copies, checksum, nonce):
    bits = Bits()
    if copies == 1:
        bits.number(0, 8).number(0xffff << 16, 32)  # nothing, as it is
    else:  # the whole file once more
        match(fixed_block(bits), FILE_BYTES, FILE_BYTES)
        end_of_block(bits)
        end_of_block(fixed_block(bits))
    end_of_block(fixed_block(bits, is_last=True))
    tail = bits.packed() + struct.pack("<II", checksum, copies * FILE_BYTES)
    head = b"\x1f\x8b\x08\x08" + struct.pack("<I", nonce) + b"\x00\x03q\0"  # with a name, "q"
    size = len(head) + UNIT
    lh, rh, l1, l4, r4 = literal(size), repeat(size), literal(UNIT), literal(4 * UNIT), repeat(4 * UNIT)
    program = [head, lh, head, lh, rh, l1, rh, l1, l1, l4, rh, l1, l1, l4, r4, l4, r4, l4, r4, l4, r4, l4, r4, tail, r4, tail]
    assert len(tail) == TAIL and all(len(step) == UNIT for step in (lh, rh, l1, l4, r4))
    return b"".join(program)


def with_its_checksum(copies):
    for nonce in range(100):
        def found(checksum, nonce=nonce):
            return zlib.crc32(file_with(copies, checksum, nonce) * copies)
        # found(c) = found(0) + A c, and is to be c: (A + 1) c = found(0), over the integers modulo 2.
        basis = {}
        for i in range(32):
            column, mark = found(1 << i) ^ found(0) ^ 1 << i, 1 << i
            while column:
                top = column.bit_length()
                if top not in basis:
                    basis[top] = column, mark
                    break
                column, mark = column ^ basis[top][0], mark ^ basis[top][1]
        wanted, checksum = found(0), 0
        while wanted and wanted.bit_length() in basis:
            column, mark = basis[wanted.bit_length()]
            wanted, checksum = wanted ^ column, checksum ^ mark
        if not wanted:
            return file_with(copies, checksum, nonce)
    raise SystemExit("no checksum holds")


def main():
    copies = int(sys.argv[1])
    data = with_its_checksum(copies)
    assert len(data) == FILE_BYTES and gzip.decompress(data) == data * copies
    with open(sys.argv[2], "wb") as file:
        file.write(data)


main()
