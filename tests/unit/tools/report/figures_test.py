import unittest

from made import bundle_of, generated, record, reordered, with_case
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

    def test_a_kernel_on_two_machines_has_two_lines(self):
        cases = [with_case(record(dense_cols=k, seconds=seconds, kernel=kernel), cpu=cpu, threads=1)
                 for cpu, seconds in (("Xeon", 1), ("EPYC", 2)) for kernel in ("cpu.spmm.auto", OTHER) for k in (8, 32)]
        drawn = next(rate(bundle_of(*cases))).svg(CARD)
        for name in ("auto, Xeon, 1 thread", "auto, EPYC, 1 thread", "MKL, Xeon, 1 thread", "MKL, EPYC, 1 thread"):
            self.assertIn(f">{name}</text>", drawn)
        for line in range(4):  # through its two points, with an interval at each
            self.assertEqual(drawn.count(f'<path class="s{line}"'), 3)

    def test_a_kernel_of_one_machine_is_named_alone_and_beside_other_threads_with_its_own(self):
        cases = [with_case(record(kernel=kernel), cpu="Xeon", threads=threads)
                 for kernel, threads in (("cpu.spmm.auto", 1), ("cpu.spmm.auto", 16), (OTHER, 16))]
        drawn = next(rate(bundle_of(*cases))).svg(CARD)
        for name in ("auto, 1 thread", "auto, 16 threads", "MKL"):
            self.assertIn(f">{name}</text>", drawn)

    def test_a_ladder_is_of_one_machine(self):
        def rungs(cpu, seconds):
            return [with_case(record("a.csr", kernel, seconds), cpu=cpu) for kernel in ("cpu.spmm.v0_naive", "cpu.spmm.auto")]
        first, second = ladder(bundle_of(*rungs("Xeon", 1e-6), *rungs("EPYC", 2e-6)))
        self.assertEqual([first.title, second.title], ["cpu.spmm, K = 32, Xeon", "cpu.spmm, K = 32, EPYC"])
        self.assertEqual(len({first.name, second.name}), 2)
        self.assertIn(">64.0</text>", first.svg(CARD))
        self.assertIn(">32.0</text>", second.svg(CARD))

    def test_gains_say_on_which_machine_where_there_are_two(self):
        def order_on(cpu):
            return [with_case(made, cpu=cpu) for made in (record("a.csr", seconds=1), reordered("a.rcm.csr", "a", "rcm", seconds=0.5))]
        drawn = next(gains(bundle_of(*order_on("Xeon"), *order_on("EPYC")))).svg(CARD)
        self.assertIn(">rcm, K = 32, Xeon</text>", drawn)
        self.assertIn(">rcm, K = 32, EPYC</text>", drawn)
        self.assertIn(">rcm, K = 32</text>", next(gains(bundle_of(*order_on("Xeon")))).svg(CARD))


if __name__ == "__main__":
    unittest.main()
