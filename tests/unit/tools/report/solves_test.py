import unittest

from made import bundle_of
from report.command_line import InputError
from report.page import draw
from report.solves import MOST_POINTS, histories, points_of


def solve(norms, matrix="grid.csr", kernel="cpu.solve.cg", status="converged", **more):
    """As csr-solve-* --json reports it; a list of norms per right-hand side."""
    columns = [{"status": status, "iterations": len(column) - 1, "rhs_norm": 2.0, "target_norm": 2e-8, "true_norm": column[-1]}
               for column in norms]
    return {"kernel": kernel, "matrix": matrix, "precision": "f64", "preconditioner": "none", "iterations": len(norms[0]) - 1,
            "columns": columns, "residual_history": [list(row) for row in zip(*norms)], **more}


class SolvesTest(unittest.TestCase):
    def test_a_matrix_has_a_chart_with_a_line_per_solve(self):
        bundle = bundle_of(solve([[2.0, 0.2, 2e-9]]),
                           solve([[2.0, 1e-9]], kernel="gpu.solve.auto", precision="refined", preconditioner="jacobi"),
                           solve([[1.0, 0.5]], matrix="other.csr", status="iteration_limit"))
        first, second = histories(bundle)
        drawn = first.svg(500)
        self.assertIn("cg: converged after 2 iterations, 1.00e-09", drawn)
        self.assertIn("auto, refined, jacobi: converged after 1 iterations", drawn)
        self.assertIn("iteration limit after 1", second.caption)

    def test_norms_are_relative_and_columns_are_lines(self):
        bundle = bundle_of(solve([[2.0, 1.0], [4.0, 2.0]]))
        self.assertEqual([solve.norms for solve in bundle.solves], [[1.0, 0.5], [2.0, 1.0]])
        self.assertIn("b 1", next(histories(bundle)).svg(500))

    def test_what_a_logarithmic_scale_cannot_show_is_left_out(self):
        bundle = bundle_of(solve([[2.0, None, 0.0, 1.0]], status="not_finite"))
        self.assertEqual(points_of(bundle.solves[0]), [(0, 1.0), (3, 0.5)])
        self.assertEqual(list(histories(bundle_of(solve([[None]])))), [])

    def test_norms_have_any_size(self):
        made = solve([[2e300, 2e290]])
        made["columns"][0].update(rhs_norm=2e300, target_norm=2e292)
        of_large, = bundle_of(made).solves
        self.assertEqual((of_large.norms[0], of_large.target), (1.0, 1e-8))
        made = solve([[None]], status="not_finite")  # squares of b overflow
        made["columns"][0].update(rhs_norm=None, target_norm=None)
        self.assertEqual(list(histories(bundle_of(made))), [])

    def test_an_iteration_has_a_norm_of_every_right_hand_side(self):
        made = solve([[2.0, 1.0], [4.0, 2.0]])
        for row in ([], [1.0], [1.0, 2.0, 3.0]):
            with self.assertRaisesRegex(InputError, r"residual_history\[1\]: expected 2 numbers, one for each right-hand side"):
                bundle_of({**made, "residual_history": [[2.0, 4.0], row]})

    def test_long_histories_are_thinned_out_and_keep_their_end(self):
        points = points_of(bundle_of(solve([[1.0 / (i + 1) for i in range(10 * MOST_POINTS)]])).solves[0])
        self.assertLessEqual(len(points), MOST_POINTS + 2)
        self.assertEqual(points[-1][0], 10 * MOST_POINTS - 1)

    def test_a_solve_on_two_machines_says_which(self):
        def lines_of(*reports):
            figure, = histories(bundle_of(*reports))
            return figure.svg(500), figure.caption
        drawn, caption = lines_of(solve([[2.0, 0.2]], cpu="Xeon", threads=2, gpu=None),
                                  solve([[2.0, 0.1]], cpu="EPYC", threads=2, gpu=None),
                                  solve([[2.0, 0.3]], cpu="EPYC", threads=2, gpu={"name": "H100"}, kernel="gpu.solve.cg"),
                                  solve([[2.0, 0.3]], cpu="EPYC", threads=2, gpu=None, preconditioner="jacobi"),
                                  solve([[2.0, 0.4]]))  # of an earlier version
        for name in ("cg, Xeon, 2 threads", "cg, EPYC, 2 threads", "cg, H100", "cg, jacobi", "cg"):
            self.assertIn(f">{name}</text>", drawn)
            self.assertIn(f"{name}: converged after 1", caption)
        drawn, _ = lines_of(*(solve([[2.0, 0.2]], cpu="Xeon", threads=threads, gpu=None) for threads in (1, 16)))
        for name in ("cg, 1 thread", "cg, 16 threads"):
            self.assertIn(f">{name}</text>", drawn)

    def test_the_page_has_them(self):
        class Options:
            draws_matrices = False
        self.assertEqual([figure.section for figure in draw(bundle_of(solve([[2.0, 1e-9]])), Options())], ["solves"])


if __name__ == "__main__":
    unittest.main()
