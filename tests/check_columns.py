#!/usr/bin/env python3
"""No line of code has more than 100 columns; clang-format leaves comments alone.

Usage: check_columns.py [--fix] FILE...    --fix wraps comments that are too long, to the end of their paragraph
       check_columns.py --self-test
"""
import pathlib
import re
import sys

WIDTH = 100
COMMENT = re.compile(r"^(\s*//[/!]?<?\s+)(\S.*)$")
# What begins a paragraph of its own: a heading of a kernel's card, an item of a list.
ITEM = re.compile(r"^(?:(?:Owns|Reads|Launch|Needs|Against)\s{2,}|(?:\*|-|\d+\.)\s+)")


def wrapped(words, first, indent):
    lines, line, is_empty = [], first, True
    for word in words:
        if not is_empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, is_empty = indent, True
        line += word if is_empty else " " + word
        is_empty = False
    return lines + [line]


def fixed(lines):
    """The lines with long comments wrapped. A comment behind code moves to the line before."""
    out, at = [], 0
    while at < len(lines):
        line = lines[at]
        at += 1
        comment = COMMENT.match(line)
        if len(line) <= WIDTH:
            out.append(line)
        elif comment:
            prefix, text = comment.groups()
            item = ITEM.match(text)
            first = prefix + (item[0] if item else "")
            indent = prefix + " " * (len(item[0]) if item else 0)
            words = line[len(first):].split()
            while at < len(lines):
                following = COMMENT.match(lines[at])
                if not following or following[1] != indent or ITEM.match(following[2]):
                    break
                words += following[2].split()
                at += 1
            out += wrapped(words, first, indent)
        else:
            code, slashes, text = line.partition("  // ")
            blank = re.match(r"\s*", line)[0] + "// "
            is_alone = at == len(lines) or not re.match(r"^\s{8,}//", lines[at])
            out += wrapped(text.split(), blank, blank) + [code] if slashes and is_alone and '"' not in text else [line]
    return out


def self_test():
    long = "word " * 30
    assert fixed(["// short"]) == ["// short"]
    plain = fixed(["  // " + long.strip(), "  // more", "", "  // other"])
    assert all(len(line) <= WIDTH for line in plain) and plain[-2:] == ["", "  // other"], plain
    assert plain[1].endswith("more") and plain[1].startswith("  // word"), plain
    card = fixed(["// Owns     " + long.strip(), "//          rest", "// Reads    b"])
    assert card[1].startswith("//          word") and card[1].endswith("rest") and card[2] == "// Reads    b", card
    behind = fixed(["  int a = 1;  // " + long.strip()])
    assert behind[-1] == "  int a = 1;" and behind[0].startswith("  // word"), behind
    assert fixed(['  call("' + "x" * 100 + '");'])[0].startswith("  call"), "code stays"
    print("check_columns: the self-test passed")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        self_test()
        return 0
    fixes = arguments[:1] == ["--fix"]
    files = [pathlib.Path(name) for name in arguments[fixes:]]
    if not files or any(str(file).startswith("-") for file in files):
        print(__doc__, file=sys.stderr)
        return 2
    found = 0
    for file in files:
        lines = file.read_text(encoding="utf-8").split("\n")
        if fixes:
            better = fixed(lines)
            if better != lines:
                file.write_text("\n".join(better), encoding="utf-8")
            lines = better
        for number, line in enumerate(lines, 1):
            if len(line) > WIDTH:
                found += 1
                print(f"{file}:{number}: {len(line)} columns")
    print(f"check_columns: {found or 'no'} lines of {len(files)} files have more than {WIDTH} columns",
          file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
