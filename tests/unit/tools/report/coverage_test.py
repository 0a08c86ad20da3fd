import unittest

from made import bundle_of, failed, record, reordered
from report.coverage import coverage_of
from report.tables import markdown

PLAN = {"plan": 1, "command": "submit.sh again", "datasets": ["a", "b"], "orders": ["natural", "rcm"],
        "kernels": ["cpu.auto"], "dense_cols": [32]}


class CoverageTest(unittest.TestCase):
    def test_what_was_asked_for_and_is_not_there_is_missing_with_its_reason(self):
        problem = {"problem": 1, "dataset": "b", "order": "natural", "reason": "not fetched", "mend": "fetch.sh b"}
        found = coverage_of(bundle_of(record("a.csr"), PLAN, problem))
        self.assertEqual((found.asked, found.done, found.is_whole), (4, 1, False))
        self.assertEqual(found.text(), "1 of 4 cases, 2 data sets incomplete")
        gaps = {gap.title: (len(gap.cells), gap.reason, gap.mend) for gap in found.missing}
        self.assertEqual(gaps, {"a, rcm": (1, "not measured yet", "submit.sh again"), "b": (2, "not fetched", "fetch.sh b")})

    def test_a_failed_case_is_missing_and_says_why(self):
        plan = {**PLAN, "datasets": ["a"], "orders": ["natural"]}
        found = coverage_of(bundle_of(failed("a.csr", "out of memory"), record("c.csr"), plan))
        self.assertEqual((found.asked, found.done), (1, 0))
        self.assertEqual(found.missing[0].reason, "cpu.auto failed: out of memory")
        self.assertEqual(found.text(), "0 of 1 case, 1 data set incomplete")
        self.assertIn("* a (1 case): cpu.auto failed", markdown(bundle_of(failed("a.csr", "out of memory"), plan), found))

    def test_all_that_was_asked_for_is_whole(self):
        plan = {**PLAN, "datasets": ["a"]}
        found = coverage_of(bundle_of(record("a.csr"), reordered("a.rcm.csr", "a", "rcm"), plan))
        self.assertTrue(found.is_whole)
        self.assertEqual(found.text(), "all 2 cases that were asked for")
        self.assertEqual(coverage_of(bundle_of(record("a.csr"), {**plan, "orders": ["natural"]})).text(),
                         "the one case that was asked for")
        self.assertIsNone(coverage_of(bundle_of(record("a.csr"))))

    def test_a_case_of_two_plans_counts_once(self):
        found = coverage_of(bundle_of(record("a.csr"), PLAN, {**PLAN, "command": "the later one"}))
        self.assertEqual(found.asked, 4)
        self.assertEqual({gap.mend for gap in found.missing}, {"the later one"})

    def test_a_sparse_product_has_no_dense_columns(self):
        plan = {**PLAN, "datasets": ["a"], "orders": ["natural"], "kernels": ["cpu.spgemm.auto"], "dense_cols": [32, 64]}
        made = record("a.csr", kernel="cpu.spgemm.auto")
        made["case"]["dense_cols"] = None
        self.assertTrue(coverage_of(bundle_of(made, plan)).is_whole)

    def test_every_width_of_sddmm_is_a_case(self):
        plan = {**PLAN, "datasets": ["a"], "orders": ["natural"], "kernels": ["cpu.sddmm.auto"], "dense_cols": [32, 64]}
        found = coverage_of(bundle_of(record("a.csr", kernel="cpu.sddmm.auto"), plan))
        self.assertEqual((found.asked, found.done), (2, 1))
        self.assertEqual(found.missing[0].cells[0].dense_cols, 64)


if __name__ == "__main__":
    unittest.main()
