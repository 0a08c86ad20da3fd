import math
import unittest

from made import bundle_of, record
from report.compare import FASTER, LEVEL, SLOWER, UNSETTLED, Ratio, is_settled, mean_of, pay_back, ratio_of


def case(seconds, spread=0.0):
    return bundle_of(record(seconds=seconds, spread=spread)).cases[0]


class CompareTest(unittest.TestCase):
    def test_a_ratio_whose_interval_holds_one_is_level(self):
        self.assertEqual(ratio_of(case(1.0), case(1.3)).verdict, FASTER)
        self.assertEqual(ratio_of(case(1.0, 0.09), case(1.1, 0.09)).verdict, LEVEL)
        self.assertEqual(ratio_of(case(1.0), case(1.0)).verdict, LEVEL)
        self.assertEqual(ratio_of(case(1.3), case(1.0)).verdict, SLOWER)

    def test_the_interval_holds_every_ratio_of_the_two(self):
        ratio = ratio_of(case(2.0, 0.1), case(4.0, 0.2))
        self.assertAlmostEqual(ratio.low, 3.2 / 2.2)
        self.assertAlmostEqual(ratio.high, 4.8 / 1.8)
        self.assertIsNone(ratio_of(case(0.0), case(1.0)))

    def test_a_wide_interval_is_not_settled(self):
        self.assertTrue(is_settled(case(1.0, 0.099)))
        self.assertFalse(is_settled(case(1.0, 0.101)))

    def test_a_mean_leaves_out_what_is_not_settled_and_counts_it(self):
        mean = mean_of([(Ratio(2, 1.9, 2.1), FASTER), (Ratio(0.5, 0.4, 0.6), SLOWER), (Ratio(38, 1, 400), UNSETTLED)])
        self.assertAlmostEqual(mean.value, 1.0)
        self.assertAlmostEqual(mean.low, math.sqrt(1.9 * 0.4))
        self.assertEqual((mean.settled, mean.counts[UNSETTLED]), (2, 1))
        self.assertEqual(mean_of([(Ratio(38, 1, 400), UNSETTLED)]).settled, 0)
        self.assertIsNone(mean_of([]))

    def test_an_order_pays_back_between_the_ends_of_the_intervals(self):
        pays = pay_back(1.0, case(2.0, 0.1), case(1.0, 0.1))
        self.assertAlmostEqual(pays.value, 1.0)
        self.assertAlmostEqual(pays.low, 1 / (2.2 - 0.9))
        self.assertAlmostEqual(pays.high, 1 / (1.8 - 1.1))
        self.assertEqual(pay_back(1.0, case(1.0), case(2.0)).low, math.inf)


if __name__ == "__main__":
    unittest.main()
