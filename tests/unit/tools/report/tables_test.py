import math
import unittest

from made import bundle_of, failed, generated, record
from report.compare import PayBack
from report.coverage import coverage_of
from report.outputs import csv_text, summary_json, summary_text
from report.tables import digits, main_table, markdown, markdown_escaped, products_text


class TablesTest(unittest.TestCase):
    def test_a_number_has_no_exponent_so_that_a_column_has_one_unit(self):
        self.assertEqual([digits(value) for value in (0.00002678, 1.5, 123456, 0, None)],
                         ["0.00002678", "1.500", "123,456", "0", "-"])

    def test_products_until_an_order_pays(self):
        pays = PayBack(100.2, 50, 200)
        self.assertEqual(products_text(pays, "faster"), "101 (50 to 200)")
        self.assertEqual(products_text(PayBack(100, 50, math.inf), "level"), "not before 50")
        self.assertEqual(products_text(PayBack(math.inf, math.inf, math.inf), "slower"), "never")
        self.assertEqual(products_text(None, ""), "-")

    def test_our_own_kernel_is_a_baseline(self):
        def names(kernel):
            return [column.name for column in main_table(bundle_of(record(), record(kernel=kernel))).columns]
        self.assertIn("MKL ms", names("cpu.spmm.vendor_mkl"))
        self.assertIn("csrkit ms", names("cpu.spmm.vendor_mkl"))
        self.assertIn("row_loop ms", names("cpu.spmm.row_loop"))
        self.assertIn("auto ms", names("cpu.spmm.row_loop"))

    def test_every_output_names_the_stand_in_and_the_failure(self):
        found = bundle_of(generated("reddit.csr", "reddit", "0.02"), failed("b.csr", "out of | memory"))
        self.assertIn("| reddit (stand-in, 2 % of its size) |", markdown(found, None))
        self.assertIn("out of \\| memory", markdown(found, None))
        self.assertIn("reddit,,reddit,0.02,", csv_text(found))
        self.assertIn(",failed,", csv_text(found))
        self.assertIn("reddit (stand-in, 2 % of its size)", summary_json(found, None))

    def test_the_summary_begins_with_what_is_missing(self):
        plan = {"plan": 1, "command": "again", "datasets": ["a", "b"], "orders": ["natural"], "kernels": ["cpu.auto"],
                "dense_cols": [32]}
        found = bundle_of(record("a.csr"), plan)
        self.assertIn("1 of 2 cases, 1 data set incomplete\n  missing: b (1 case): not measured yet\n    mend: again",
                      summary_text(found, coverage_of(found)))

    def test_markdown_shows_names_as_they_are(self):
        self.assertEqual(markdown_escaped("<b>|a_b|*"), "\\<b\\>\\|a_b\\|\\*")
        strange = "cpu.spmm.<b>|\x1b[31m"
        head = markdown(bundle_of(record(), record(kernel=strange)), None).split("\n")[2]
        self.assertIn("| \\<b\\>\\|\\\\x1b\\[31m ms |", head)


if __name__ == "__main__":
    unittest.main()
