#!/usr/bin/env python3
"""Every line of mutants_explained.tsv is about a mutant of the code as it is.

Usage: check_explained.py
"""
import pathlib
import sys

from mutants import ROOMS, explained, mutants_with_keys, without_number


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    files = [file for room, *_ in ROOMS.values() for file in room]
    tried = {without_number(key) for file in files for _, key in mutants_with_keys(root, file)}
    known = explained(root)
    gone = sorted(known - tried)
    for row in gone:
        print("mutants_explained.tsv: the code has no such mutant: " + "\t".join(row))
    if not gone:
        print(f"check_explained: {len(known)} mutants that change nothing are those of today's code")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
