#!/usr/bin/env python3
"""Every relative link in the Markdown pages leads to a file, and every anchor to a heading. Files and folders that a page
names in `backticks`, from the repository's root and with or without their ending, exist; logs speak of their day.

Usage: check_docs.py ROOT
"""
import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


NAMED = re.compile(r"`([a-z_]+(?:/[\w.-]+)+)/?`")
ENDINGS = ("", ".h", ".cpp", ".cu", ".cuh", ".py", ".sh")
LOGS = ("docs/lab/", "CHANGELOG.md")


def missing_names(root, page, text):
    """Names of files of this repository, by their first folder, that are not there."""
    if str(page.relative_to(root)).startswith(LOGS):
        return []
    return [name for name in NAMED.findall(text)
            if name.partition("/")[0] != "build" and (root / name.partition("/")[0]).is_dir()
            and not any((root / (name + ending)).exists() for ending in ENDINGS)]


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
        broken += [f"{page.relative_to(root)}: {name} is not there" for name in missing_names(root, page, text)]
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
