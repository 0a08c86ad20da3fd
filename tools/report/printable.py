"""Makes text from files safe to show."""


def printable(text):
    """The text with everything unprintable as an escape: control characters, which a terminal would
    obey, marks that change the direction of writing, and bytes that are no UTF-8."""
    return "".join(c if c.isprintable() else escape(ord(c)) for c in text)


def escape(code):
    if 0xdc80 <= code <= 0xdcff:  # how Python holds a byte of a file name that is no UTF-8
        code -= 0xdc00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable_lines(text):
    """The same, keeping line ends."""
    return "\n".join(map(printable, text.split("\n")))


def counted(count, one, many):
    """'1 case', '1,200 cases'"""
    return f"{count:,} {one if count == 1 else many}"
