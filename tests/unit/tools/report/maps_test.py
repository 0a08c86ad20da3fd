import unittest

from made import bundle_of
from report.maps import heat_map, heat_maps, schedules


class MapsTest(unittest.TestCase):
    def test_a_grid_search_becomes_milliseconds_and_marks_the_best(self):
        runs = [{"matrix": "a", "block": block, "tile": tile, "seconds": [tile * 1e-3, 1, 1e-4]}
                for block in (64, 128) for tile in (2, 4)]
        figure, = heat_maps(bundle_of(*runs))
        drawn = figure.svg(500)
        self.assertEqual(drawn.count("2.00*"), 2)
        self.assertIn("block 128", drawn)

    def test_every_kernel_has_its_best_schedule(self):
        runs = [{"matrix": "a", "dense_cols": 8, "threads": 2, "kernel": "cpu.spmm.x", "schedule": name, "chunk": 0,
                 "gflops": speed} for name, speed in (("static", 3), ("dynamic", 6))]
        figure, = schedules(bundle_of(*runs))
        self.assertIn("6.00*", figure.svg(500))

    def test_headings_that_do_not_fit_stand_upright(self):
        self.assertIn("rotate", heat_map(200, ["a long heading"] * 6, ["row"], [[1.0] * 6], [1.0]).svg("x"))


if __name__ == "__main__":
    unittest.main()
