import unittest

from made import bundle_of, generated, record, reordered
from report.case import is_vendor, kernel_title, words_after


class CaseTest(unittest.TestCase):
    def test_a_stand_in_is_never_called_by_the_name_of_the_data_alone(self):
        def title(*given, **more):
            return bundle_of(generated(*given, **more)).cases[0].title
        self.assertEqual(title("reddit.csr", "reddit", "0.02"), "reddit (stand-in, 2 % of its size)")
        self.assertEqual(title("reddit.csr", "reddit"), "reddit (stand-in)")
        self.assertEqual(title("mine.csr", "reddit", "0.5"), "mine (stand-in for reddit, 50 % of its size)")
        self.assertEqual(title("reddit.csr", "reddit", "nonsense"), "reddit (stand-in)")
        self.assertEqual(bundle_of(record("reddit.csr")).cases[0].title, "reddit")

    def test_an_order_belongs_to_the_matrix_it_was_made_of(self):
        found = bundle_of(record("a.csr"), reordered("other.csr", "a", "rcm"))
        self.assertEqual([(case.dataset, case.order) for case in found.cases], [("a", ""), ("a", "rcm")])
        self.assertEqual(found.matrices(), 1)

    def test_only_other_peoples_code_is_a_vendors(self):
        self.assertTrue(is_vendor("gpu.spmm.vendor_cusparse"))
        self.assertFalse(is_vendor("cpu.spmm.row_loop"))
        self.assertEqual(kernel_title("gpu.spmm.vendor_cusparse"), "cuSPARSE")
        self.assertEqual(kernel_title("cpu.spmm.row_loop"), "row_loop")

    def test_words_of_options_are_found_in_both_forms(self):
        self.assertEqual(words_after(["--set", "a=1", "--set=b=2", "--set"], ("--set",)), ["a=1", "b=2", ""])


if __name__ == "__main__":
    unittest.main()
