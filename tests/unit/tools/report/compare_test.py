import math
import unittest

from made import bundle_of, record
from report.compare import FASTER, LEVEL, SLOWER, UNSETTLED, Ratio, is_settled, mean_of, pay_back, ratio_of, ratio_of_pairs


def case(seconds, spread=0.0):
    return bundle_of(record(seconds=seconds, spread=spread)).cases[0]


class CompareTest(unittest.TestCase):
    def test_a_ratio_whose_interval_holds_one_is_level(self):
        self.assertEqual(ratio_of(case(1.0), case(1.3)).verdict, FASTER)
        self.assertEqual(ratio_of(case(1.0, 0.09), case(1.1, 0.09)).verdict, LEVEL)
        self.assertEqual(ratio_of(case(1.0), case(1.0)).verdict, LEVEL)
        self.assertEqual(ratio_of(case(1.3), case(1.0)).verdict, SLOWER)

    def test_relative_widths_of_medians_add_up_as_squares(self):
        ratio = ratio_of(case(2.0, 0.03), case(4.0, 0.04))
        self.assertAlmostEqual(ratio.value, 2)
        self.assertAlmostEqual(math.log(ratio.value / ratio.low), 0.05, places=2)
        self.assertAlmostEqual(math.log(ratio.high / ratio.value), 0.05, places=2)
        self.assertIsNone(ratio_of(case(0.0), case(1.0)))

    def test_samples_of_the_same_rounds_are_compared_in_pairs(self):
        def turn(samples, rounds):
            made = record(samples_seconds=samples, median_seconds=sorted(samples)[2],
                          median_interval_seconds=[min(samples), max(samples)], turns={"id": rounds, "cases": 2})
            return bundle_of(made).cases[0]
        ours, other = [1.0, 2.0, 9.0, 4.0, 1.5], [2.0, 4.0, 18.0, 8.0, 3.0]
        ratio = ratio_of(turn(ours, "r"), turn(other, "r"))
        self.assertEqual((ratio.value, ratio.low, ratio.high, ratio.verdict), (2, 2, 2, FASTER))
        self.assertEqual(ratio_of(turn(ours, "r"), turn(other, "s")).verdict, UNSETTLED)

    def test_the_interval_of_many_pairs_is_that_of_the_ranks(self):
        ratio = ratio_of_pairs([1 + i / 1000 for i in range(100)])
        self.assertAlmostEqual(ratio.low, 1.039)
        self.assertAlmostEqual(ratio.high, 1.060)

    def test_a_wide_interval_is_not_settled(self):
        self.assertTrue(is_settled(case(1.0, 0.099)))
        self.assertFalse(is_settled(case(1.0, 0.101)))

    def test_one_sample_settles_nothing(self):
        def once(seconds):
            return bundle_of(record(samples_seconds=[seconds], median_seconds=seconds, median_interval_seconds=[seconds, seconds],
                                    turns={"id": "r", "cases": 2})).cases[0]
        self.assertFalse(is_settled(once(1.0)))
        self.assertEqual(ratio_of(once(1.0), once(38.0)).verdict, UNSETTLED)

    def test_a_mean_leaves_out_what_is_not_settled_and_counts_it(self):
        mean = mean_of([Ratio(2, 1.9, 2.1), Ratio(0.5, 0.4, 0.6), Ratio(38, 1, 400, False)])
        self.assertAlmostEqual(mean.value, 1.0)
        self.assertAlmostEqual(mean.low, math.sqrt(1.9 * 0.4))
        self.assertEqual((mean.settled, mean.counts[UNSETTLED]), (2, 1))
        self.assertEqual(mean_of([Ratio(38, 1, 400, False)]).settled, 0)
        self.assertIsNone(mean_of([]))

    def test_an_order_pays_back_between_the_ends_of_the_interval(self):
        pays = pay_back(1.0, case(2.0, 0.03), case(1.0, 0.08))
        self.assertAlmostEqual(pays.value, 1.0)
        self.assertAlmostEqual(pays.low, 1 / 1.1)
        self.assertAlmostEqual(pays.high, 1 / 0.9)
        self.assertEqual(pay_back(1.0, case(1.0), case(2.0)).low, math.inf)


if __name__ == "__main__":
    unittest.main()
