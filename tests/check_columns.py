#!/usr/bin/env python3
"""No line of code has more than 100 columns (clang-format leaves comments alone), no line of prose in a page 120.

Usage: check_columns.py [--fix] FILE...    --fix wraps what is too long, to the end of its paragraph
       check_columns.py --self-test
"""
import pathlib
import re
import sys

WIDTH = 100
PAGE_WIDTH = 120
COMMENT = re.compile(r"^(\s*//[/!]?<?\s+)(\S.*)$")
# What begins a paragraph of its own: a heading of a kernel's card, an item of a list.
ITEM = re.compile(r"^(?:(?:Owns|Reads|Launch|Needs|Against)\s{2,}|(?:\*|-|\d+\.)\s+)")


def wrapped(words, first, indent, width=WIDTH):
    lines, line, is_empty = [], first, True
    for word in words:
        if not is_empty and len(line) + 1 + len(word) > width:
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


# An item of a list, and what is no prose: headings, tables, HTML, pictures, empty lines.
PAGE_ITEM = re.compile(r"^\s*(?:[*-]|\d+\.)\s+")
NO_PROSE = re.compile(r"^\s*(?:#|\||<|!\[)|^\s*$")
# What Markdown would take for something else at the begin of a line.
NOT_FIRST = re.compile(r"^(?:[-+*>|=]|#+|\d+[.)])$")


def words_of_page(text):
    """Words; code with its blanks is one, and so is a word with what may not begin a line."""
    words = []
    for word in re.findall(r"(?:`[^`]*`|[^\s`]|`)+", text):
        if words and NOT_FIRST.match(word):
            words[-1] += " " + word
        else:
            words.append(word)
    return words


def prose_of(lines):
    """(first line, line behind the last) of every paragraph and item, but in code and in what is generated."""
    is_code = is_generated = False
    begin = None
    for at, line in enumerate([*lines, ""]):
        fence = line.lstrip().startswith("```")
        if fence:
            is_code = not is_code
        if re.match(r"<!-- (?!end)", line):
            is_generated = "<!-- end -->" in lines[at:]
        is_other = is_code or fence or is_generated or NO_PROSE.match(line)
        # Within a paragraph only a 1. begins an item; another number is one of a sentence.
        is_item = PAGE_ITEM.match(line) and (begin is None or PAGE_ITEM.match(lines[begin])
                                             or not re.match(r"\s*(?!1\.)\d+\.", line))
        if begin is not None and (is_other or is_item):
            yield begin, at
            begin = None
        if begin is None and not is_other and not line.startswith("    "):  # with four blanks it is code
            begin = at
        if line == "<!-- end -->":
            is_generated = False


def fixed_page(lines):
    """The lines with long paragraphs wrapped."""
    out, behind = [], 0
    for begin, end in prose_of(lines):
        out += lines[behind:begin]
        behind = end
        block = lines[begin:end]
        if all(len(line) <= PAGE_WIDTH for line in block):
            out += block
            continue
        item = PAGE_ITEM.match(block[0])
        first = item[0] if item else re.match(r"\s*", block[0])[0]
        text = " ".join(line.strip() for line in [block[0][len(first):], *block[1:]])
        out += wrapped(words_of_page(text), first, " " * len(first), PAGE_WIDTH)
    return out + lines[behind:]


def too_long(file, lines):
    """(number, columns) of lines that could be shorter."""
    if file.suffix != ".md":
        return [(number, len(line)) for number, line in enumerate(lines, 1) if len(line) > WIDTH]
    return [(at + 1, len(lines[at])) for begin, end in prose_of(lines) for at in range(begin, end)
            if len(lines[at]) > PAGE_WIDTH and len(words_of_page(lines[at])) > 1 + bool(PAGE_ITEM.match(lines[at]))]


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
    page = ["* " + long.strip(), "  more", "* other", "| " + long + "|", "```", long, "```",
            "`a b` " + "c " * 60 + "- d"]
    better = fixed_page(page)
    assert better[0].startswith("* word") and better[1].endswith("word more") and better[2:-2] == page[2:7], better
    assert not better[-1].startswith("-") and too_long(pathlib.Path("a.md"), better) == [], better
    year = ["ACM TOMS 4(3),", "1978. " + long.strip()]
    assert [line[:1] for line in fixed_page(year)] == ["A", "w"], fixed_page(year)
    numbered = ["2. " + long.strip(), "3. other"]
    assert fixed_page(numbered)[-1] == "3. other" and fixed_page(numbered)[1].startswith("   word"), fixed_page(numbered)
    generated = ["<!-- table -->", long, "<!-- end -->"]
    assert fixed_page(generated) == generated
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
            better = (fixed_page if file.suffix == ".md" else fixed)(lines)
            if better != lines:
                file.write_text("\n".join(better), encoding="utf-8")
            lines = better
        for number, columns in too_long(file, lines):
            found += 1
            print(f"{file}:{number}: {columns} columns")
    print(f"check_columns: {found or 'no'} lines of {len(files)} files have more than {WIDTH} columns, {PAGE_WIDTH} in pages",
          file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
