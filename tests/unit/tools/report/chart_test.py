import unittest
import xml.etree.ElementTree

import made  # noqa: F401
from report.chart import Chart, Scale, around


class ChartTest(unittest.TestCase):
    def test_ticks_are_round_within_the_range_and_few(self):
        for low, high, log in ((0, 7, False), (0.013, 0.02, False), (-3, 1e6, False), (0.4, 3, True), (1e-9, 1e12, True)):
            scale = Scale(low, high, log)
            for most in (2, 5, 9):
                ticks = scale.ticks(most)
                self.assertTrue(1 <= len(ticks) <= most + 1, (low, high, most, ticks))
                self.assertTrue(all(low * 0.99 - 1e-9 <= tick <= high * 1.01 for tick in ticks))

    def test_a_scale_keeps_values_inside(self):
        scale = Scale(1, 100, log=True)
        scale.first, scale.last = 10, 20
        self.assertAlmostEqual(scale(10), 15)
        self.assertEqual((scale(0.1), scale(1e9)), (10, 20))

    def test_a_scale_of_one_value_has_a_width(self):
        for log in (False, True):
            scale = around([5.0, 5.0], log)
            self.assertLess(scale.low, 5)
            self.assertGreater(scale.high, 5)
        self.assertTrue(around([], log=True).high > 0)

    def test_names_are_text_and_never_markup(self):
        chart = Chart(100, 100)
        chart.text(1, 2, "<script>\x07")
        chart.marker(1, 1, 0, tip="a & b")
        drawn = chart.svg('"quoted"')
        xml.etree.ElementTree.fromstring(drawn)
        self.assertNotIn("<script>", drawn)

    def test_a_legend_wraps_within_the_chart(self):
        chart = Chart(200, 100)
        top = chart.top
        chart.legend(["a kernel of a long name"] * 3)
        self.assertEqual(chart.top, top + 6 + 2 * 16 + 16)

    def test_a_legend_cuts_a_name_that_is_wider_than_the_chart(self):
        chart = Chart(200, 100)
        chart.legend(["a kernel of a name that is longer than the chart is wide"])
        self.assertIn(">a kernel of a nam...</text>", chart.svg(""))


if __name__ == "__main__":
    unittest.main()
