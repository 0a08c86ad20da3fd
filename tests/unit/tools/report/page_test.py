import types
import unittest

from made import bundle_of, failed, generated, record, reordered
from report.coverage import coverage_of
from report.page import draw, html_page

OTHER = "cpu.spmm.vendor_mkl"
OPTIONS = types.SimpleNamespace(title="A <title>", draws_matrices=False)
PLAN = {"plan": 1, "command": "again <now>", "datasets": ["a", "gone"], "orders": ["natural"], "kernels": ["cpu.auto"],
        "dense_cols": [32]}


def page_of(*records):
    bundle = bundle_of(*records)
    return html_page(bundle, draw(bundle, OPTIONS), OPTIONS, coverage_of(bundle))


class PageTest(unittest.TestCase):
    def test_the_page_begins_with_what_is_missing(self):
        page = page_of(record("a.csr"), record("a.csr", OTHER, seconds=2), PLAN)
        missing = page.index("1 of 2 cases, 1 data set incomplete")
        self.assertLess(missing, page.index("times as fast"))
        self.assertIn("again &lt;now&gt;", page)
        self.assertIn("A &lt;title&gt;", page)

    def test_nothing_is_asked_of_a_network(self):
        page = page_of(record("a.csr"), record("a.csr", OTHER, seconds=2))
        for word in ("http://", "https://", "@import", "url(", "src="):
            self.assertNotIn(word, page.replace('xmlns="http://www.w3.org/2000/svg"', ""), word)

    def test_rows_carry_their_verdict_and_failures_are_rows(self):
        page = page_of(record("a.csr"), record("a.csr", OTHER, seconds=1.01e-3, spread=0.05), failed("b.csr", "no memory"))
        self.assertIn('<tr class="level">', page)
        self.assertIn('<tr class="failed">', page)
        self.assertIn("no memory", page)

    def test_stand_ins_are_counted_in_the_summary(self):
        page = page_of(generated("a.csr", "a"), record("b.csr"))
        self.assertIn("1 of 2 matrices are stand-ins", page)

    def test_180_cases_stay_below_two_megabytes(self):
        made = []
        for i in range(15):
            for order in ("", "rcm", "degree"):
                for k in (32, 256):
                    for kernel in ("cpu.spmm.auto", OTHER):
                        name = f"matrix_of_a_long_name_{i}"
                        more = {"dense_cols": k, "kernel": kernel, "seconds": 1e-3 * (i + 1)}
                        made.append(reordered(f"{name}.{order}.csr", name, order, **more) if order else
                                    record(f"{name}.csr", **more))
        self.assertEqual(len(made), 180)
        self.assertLess(len(page_of(*made)), 600_000)  # what is left of 2 MB is for 45 spy plots of 25 KB at most


if __name__ == "__main__":
    unittest.main()
