import unittest

from made import bundle_of, failed, record, reordered
from report.rows import means_of, order_rows, rows_of

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


if __name__ == "__main__":
    unittest.main()
