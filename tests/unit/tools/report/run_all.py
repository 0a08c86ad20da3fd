#!/usr/bin/env python3
"""Runs the tests of csr-report's modules."""
import pathlib
import sys
import unittest

HERE = str(pathlib.Path(__file__).resolve().parent)
sys.path.insert(0, HERE)

if __name__ == "__main__":
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover(HERE, pattern="*_test.py"))
    sys.exit(not result.wasSuccessful())
