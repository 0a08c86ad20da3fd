import unittest

from made import bundle_of, generated, record, reordered
from report.figure import CARD, NARROW, WIDE
from report.figures import gains, ladder, overview, rate, roofline

OTHER = "cpu.spmm.vendor_mkl"


class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.bundle = bundle_of(
            generated("a.csr", "a", "0.5", seconds=1), generated("a.csr", "a", "0.5", seconds=1.05, kernel=OTHER, spread=0.09),
            reordered("a.rcm.csr", "a", "rcm", seconds=0.5, phases={"reordering_seconds": 3}),
            record("b.csr", seconds=1), record("b.csr", OTHER, seconds=2))

    def test_the_overview_shows_every_natural_case_and_greys_the_level_one(self):
        figure, = overview(self.bundle)
        for width in (NARROW, WIDE):
            drawn = figure.svg(width)
            self.assertEqual(drawn.count('class="dot level"'), 1)
            self.assertEqual(drawn.count('class="dot faster"'), 1)

    def test_small_multiples_name_the_stand_in(self):
        titles = [figure.title for figure in rate(self.bundle)]
        self.assertEqual(titles, ["a (stand-in, 50 % of its size)", "b"])
        self.assertIn("(stand-in", next(iter(rate(self.bundle))).svg(CARD))

    def test_the_roof_is_measured_or_not_drawn(self):
        self.assertNotIn("roof", next(roofline(self.bundle)).svg(WIDE))
        self.assertIn("not known", next(roofline(self.bundle)).caption)
        profile = {"format": "csrkit machine profile", "version": 1, "host": "here",
                   "devices": [{"device": "cpu", "name": "a CPU", "copy_bytes_per_second": 5e9}]}
        known = bundle_of(record("b.csr"), profile)
        self.assertIn('class="roof"', next(roofline(known)).svg(WIDE))
        other = bundle_of(record("b.csr"), {**profile, "host": "elsewhere"})
        self.assertIn("not known", next(roofline(other)).caption)

    def test_a_gain_says_when_it_pays_back(self):
        self.assertIn("pays back after: 6 (", next(gains(self.bundle)).svg(CARD))

    def test_a_ladder_is_over_matrices_that_all_kernels_have(self):
        rungs = bundle_of(record("a.csr", "cpu.spmm.v0_naive"), record("b.csr", "cpu.spmm.v0_naive"), record("a.csr"))
        figure, = ladder(rungs)
        self.assertIn("over the 1 matrices", figure.caption)


if __name__ == "__main__":
    unittest.main()
