"""Writes a picture of few colours as PNG (W3C PNG, 3rd edition): a palette and four bits a pixel."""
from __future__ import annotations

import base64
import struct
import zlib

COLOURS = 16


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(levels: list[list[int]], palette: list[tuple[int, int, int]]) -> bytes:
    """`levels` holds rows of places in the palette, each below 16; all rows are of one length."""
    height, width = len(levels), len(levels[0])
    lines = bytearray()
    for row in levels:
        even = row + [0] * (width % 2)
        lines.append(0)  # no filter
        lines += bytes(high << 4 | low for high, low in zip(even[::2], even[1::2]))
    head = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", bytes(sum(palette, ())))
            + chunk(b"IDAT", zlib.compress(bytes(lines), 9)) + chunk(b"IEND", b""))


def data_address(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()
