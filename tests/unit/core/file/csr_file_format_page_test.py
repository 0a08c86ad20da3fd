#!/usr/bin/env python3
"""Runs the reader that docs/csr_file_format.md shows on the golden files.

Usage: csr_file_format_page_test.py ROOT
Exit code 77 (a skip) if NumPy is not installed.
"""
import pathlib
import re
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed for " + sys.executable)
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
PAGE = (ROOT / "docs" / "csr_file_format.md").read_text(encoding="utf-8")
GOLDEN = ROOT / "tests" / "data" / "golden"
INVALID = ROOT / "tests" / "data" / "invalid"

blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
assert len(blocks) == 1, f"expected one Python block on the page, found {len(blocks)}"
page = {}
exec(compile(blocks[0], "docs/csr_file_format.md", "exec"), page)
read_csr = page["read_csr"]


def expect(name, key, found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    # Bit for bit, so that -0.0 and NaN count too.
    same = found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
    assert same and found.shape == wanted.shape, f"{name}: {key} is {found!r}, expected {wanted!r}"


OFFSETS = np.array([0, 3, 3, 5, 6, 10], "<i8")
COLUMNS = np.array([0, 2, 6, 1, 3, 5, 0, 1, 4, 6], "<i4")
VALUES = np.array([1.5, -2, 0.25, 3, -0.5, 1024, -0.0, np.inf, np.nan, 96], "<f4")
BF16 = (VALUES.view("<u4") >> 16).astype("<u2")
OF_KIND = {"none": None, "f32": VALUES, "f64": VALUES.astype("<f8"), "f16": VALUES.astype("<f2"),
           "bf16": BF16}
NO_COLUMNS = np.array([], "<i4")

expected = {}
for kind, values in OF_KIND.items():
    expected[f"five_by_seven_{kind}.csr"] = ((5, 7), OFFSETS, COLUMNS, values)
expected["all_sections_f32.csr"] = ((5, 7), OFFSETS, COLUMNS, VALUES)
expected["symmetric_3x3_f64.csr"] = ((3, 3), np.array([0, 2, 3, 5], "<i8"),
                                     np.array([0, 2, 1, 0, 2], "<i4"),
                                     np.array([2, -1, 2, -1, 2], "<f8"))
expected["empty_0x0_none.csr"] = ((0, 0), np.array([0], "<i8"), NO_COLUMNS, None)
expected["empty_0x9_f32.csr"] = ((0, 9), np.array([0], "<i8"), NO_COLUMNS, np.array([], "<f4"))
expected["empty_3x0_f16.csr"] = ((3, 0), np.zeros(4, "<i8"), NO_COLUMNS, np.array([], "<f2"))

expected["rank_parts_f32.csr"] = ((5, 7), OFFSETS, COLUMNS, VALUES)
expected["split_rows_f32.csr"] = ((5, 7), OFFSETS, COLUMNS, VALUES)

names = {path.name for path in GOLDEN.glob("*.csr")}
assert names == set(expected), f"golden files without expectation or missing: {names ^ set(expected)}"
for name, (shape, offsets, columns, values) in expected.items():
    matrix = read_csr(GOLDEN / name)
    assert matrix["shape"] == shape, name
    expect(name, "row_offsets", matrix["row_offsets"], offsets)
    expect(name, "col_indices", matrix["col_indices"], columns)
    if values is None:
        assert "values" not in matrix, name
    else:
        expect(name, "values", matrix["values"], values)

full = read_csr(GOLDEN / "all_sections_f32.csr")
expect("all_sections", "row_new_of_old", full["row_new_of_old"], np.array([2, 3, 4, 0, 1], "<i4"))
expect("all_sections", "col_new_of_old", full["col_new_of_old"], np.arange(6, -1, -1, dtype="<i4"))
expect("all_sections", "partition", full["partition"], np.array([3, 0, 1, 2, 0, 1], "<i4"))
text = full["provenance"].tobytes().decode("utf-8")
assert text == '{"steps":[{"tool":"csr-import","details":{"name":"größer"}}]}', text
assert read_csr(GOLDEN / "symmetric_3x3_f64.csr")["flags"] == 1 + 2 + 4 + 8

# Parts for ranks, made again from the definition: two levels, of rows and columns that differ.
LEVELS = ([0, 3, 5], [0, 4, 7]), ([0, 1, 3, 4, 5], [0, 2, 4, 4, 7])
for name, split in (("rank_parts", []), ("split_rows", [0, 3])):
    ranked = read_csr(GOLDEN / f"{name}_f32.csr")
    heads, lists = [], []
    for rows, cols in LEVELS:
        parts = range(len(rows) - 1)

        def of_row(row, part):
            columns = COLUMNS[OFFSETS[row]:OFFSETS[row + 1]]
            return [c for c in columns if row not in split or cols[part] <= c < cols[part + 1]]

        entries = [np.array(sum((of_row(row, p) for row in range(rows[p], rows[p + 1])), []), "<i4") for p in parts]
        need = [[sorted({c for c in entries[p] if cols[q] <= c < cols[q + 1]} if p != q else []) for q in parts]
                for p in parts]
        for p in parts:
            near = [q for q in parts if need[p][q] or need[q][p]]
            halo, sends = sum(need[p], []), sum((need[q][p] for q in parts), [])
            own = int(((entries[p] >= cols[p]) & (entries[p] < cols[p + 1])).sum())
            heads.append([rows[p], rows[p + 1], cols[p], cols[p + 1], len(entries[p]), own, len(halo), len(sends),
                          len(near), 4 * len(lists)])
            for q in near:
                lists += [q, len(need[p][q]), len(need[q][p]), 0]
            lists += halo + sends
            lists += [0] * (-len(lists) % 16)
    expect(name, "rank_heads", ranked["rank_heads"], np.array([2, 2, 4] + sum(heads, []), "<i8"))
    expect(name, "rank_lists", ranked["rank_lists"], np.array(lists, "<i4"))
    borders = LEVELS[-1][1]
    places = [OFFSETS[row] + np.searchsorted(COLUMNS[OFFSETS[row]:OFFSETS[row + 1]], borders) for row in split]
    if split:
        expect(name, "split_rows", ranked["split_rows"], np.array([len(split), *split, *np.concatenate(places)], "<i8"))
    else:
        assert "split_rows" not in ranked

for name in ("is_gzip", "version_2", "truncated_by_one_byte", "one_byte_appended", "column_negative",
             "column_twice", "columns_unsorted", "offsets_decrease", "offsets_end_too_low"):
    try:
        read_csr(INVALID / f"{name}.csr")
    except ValueError:
        continue
    raise AssertionError(f"{name}.csr was not refused")
print(f"{len(expected)} files read as the page says")
