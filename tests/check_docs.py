#!/usr/bin/env python3
"""Every relative link in the Markdown pages leads to a file, and every anchor to a heading.

Usage: check_docs.py ROOT
"""
import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def anchors_of(page):
    """GitHub's anchors: lower case, punctuation dropped, blanks to hyphens."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    headings = re.findall(r"^#+\s+(.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    pages = [p for p in root.rglob("*.md") if "build" not in p.relative_to(root).parts[:1]]
    broken = []
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for match in LINK.finditer(text):
            target = match[1] or match[2]
            if re.match(r"^[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                broken.append(f"{page.relative_to(root)}: {target} does not exist")
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
                broken.append(f"{page.relative_to(root)}: {target} has no such heading")
    print("\n".join(broken) or f"check_docs: every link of {len(pages)} pages leads somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
