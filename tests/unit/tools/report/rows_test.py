import unittest

from made import bundle_of, failed, record, reordered, with_case
from report.outputs import csv_text, summary_json
from report.rows import means_of, order_rows, rows_of
from report.tables import markdown

OTHER = "cpu.spmm.row_loop"


class RowsTest(unittest.TestCase):
    def test_what_failed_has_a_row_of_its_own(self):
        found = bundle_of(record("a.csr"), record("a.csr", OTHER), failed("b.rcm.csr", "out of memory"))
        row = rows_of(found)[-1]
        self.assertEqual((row.matrix, row.order, row.verdict, row.note), ("b", "rcm", "failed", "out of memory"))

    def test_where_only_the_other_failed_our_time_stays(self):
        row = rows_of(bundle_of(record("a.csr"), failed("a.csr", "no", kernel=OTHER), record("c.csr", OTHER)))[0]
        self.assertIsNotNone(row.ours)
        self.assertEqual((row.verdict, row.note), ("failed", f"{OTHER}: no"))

    def test_means_are_over_natural_order_and_settled_cases(self):
        found = bundle_of(record("a.csr", seconds=1), record("a.csr", OTHER, seconds=2),
                          reordered("a.rcm.csr", "a", "rcm", seconds=1),
                          reordered("a.rcm.csr", "a", "rcm", seconds=100, kernel=OTHER),
                          record("b.csr", seconds=1), record("b.csr", OTHER, seconds=38, spread=0.99))
        mean = means_of(rows_of(found))[32]
        self.assertAlmostEqual(mean.value, 2)
        self.assertEqual((mean.settled, mean.counts["unsettled"]), (1, 1))

    def test_an_order_is_judged_against_the_natural_one(self):
        found = bundle_of(record("a.csr", seconds=2, spread=0.05),
                          reordered("a.rcm.csr", "a", "rcm", seconds=1.9, spread=0.05, phases={"reordering_seconds": 3}))
        row = next(order_rows(found))
        self.assertEqual((row.verdict, row.cost_seconds), ("level", 3))
        self.assertEqual(row.pays_after.high, float("inf"))

    def test_what_was_measured_otherwise_is_told_apart_and_not_compared(self):
        otherwise = [({"transpose": True}, "transposed"), ({"semiring": "min-plus"}, "min-plus"),
                     ({"unsorted": True}, "unsorted"), ({"reuse": True}, "with reuse"),
                     ({"deterministic": False}, "nondeterministic"), ({"memory_limit_bytes": 5}, "within 5 bytes"),
                     ({"transpose": True, "semiring": "or-and"}, "transposed, or-and")]
        for facts, how in otherwise:
            found = bundle_of(record(seconds=1), record(kernel=OTHER, seconds=2), with_case(record(seconds=1), **facts),
                              with_case(failed("a.csr", "it cannot", kernel=OTHER), **facts))
            rows = rows_of(found)
            self.assertEqual([(row.setting.how, row.verdict) for row in rows], [("", "faster"), (how, "failed")])
            self.assertEqual(means_of(rows)[32].settled, 1)
            self.assertIn(f"| {how} |", markdown(found, None))
            self.assertIn(f'"how": "{how}"', summary_json(found, None))
            self.assertEqual(csv_text(found).count(how), 2)

    def test_times_of_two_machines_are_not_divided(self):
        def on(place, kernel, seconds):
            return with_case(record(kernel=kernel, seconds=seconds), **place)
        small, large = {"cpu": "X", "threads": 1}, {"cpu": "X", "threads": 16}
        found = bundle_of(on(small, "cpu.spmm.auto", 16), on(small, OTHER, 32), on(large, "cpu.spmm.auto", 1),
                          on(large, OTHER, 3), on({"cpu": "Y", "threads": 16}, "cpu.spmm.auto", 1))
        rows = rows_of(found)
        self.assertEqual([(row.place, row.ratio and round(row.ratio.value)) for row in rows],
                         [("X, 1 thread", 2), ("X, 16 threads", 3), ("Y, 16 threads", None)])
        self.assertIn("| X, 16 threads |", markdown(found, None))

        h100, h200 = ({"gpu": {"name": name}} for name in ("H100", "H200"))
        gpu, vendor = "gpu.spmm.auto", "gpu.spmm.vendor_cusparse"
        found = bundle_of(on(h100, gpu, 2), on(h100, vendor, 4), on(h200, gpu, 1), on(h200, vendor, 3))
        self.assertEqual([(row.place, round(row.ratio.value)) for row in rows_of(found)], [("H100", 2), ("H200", 3)])
        found = bundle_of(on(h100, gpu, 2), on(small, "cpu.spmm.vendor_mkl", 20))
        self.assertEqual([round(row.ratio.value) for row in rows_of(found)], [10])


if __name__ == "__main__":
    unittest.main()
