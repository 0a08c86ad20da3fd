import json
import tempfile
import unittest

from made import bundle_of, failed, record
from report.bundle import read
from report.command_line import InputError
from report.rows import rows_of


class BundleTest(unittest.TestCase):
    def test_a_cut_last_record_is_named(self):
        found = bundle_of(record("a.csr"), tail='{"schema":2,"matrix":"b.csr","case":{"kernel":"cpu.spmm.auto","dense_cols":8,"ca')
        self.assertEqual(len(found.cases), 1)
        self.assertIn("(b.csr, cpu.spmm.auto, K 8)", found.cut[0])

    def test_a_byte_order_mark_is_skipped_as_csr_bench_does(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8-sig") as file:
            file.write("".join(json.dumps(record(name)) + "\n" for name in ("a.csr", "b.csr")))
            file.flush()
            found = read([file.name], "", "", lambda kind, text: None)
        self.assertEqual([case.matrix for case in found.cases], ["a.csr", "b.csr"])

    def test_a_record_of_an_unknown_schema_is_refused(self):
        for schema in (1, 2):
            self.assertEqual(len(bundle_of(record(schema=schema)).cases), 1)
        for schema in (0, 3, "2", True, None):
            with self.assertRaisesRegex(InputError, ":1: schema: expected schema 1 to 2, found"):
                bundle_of(record(schema=schema))

    def test_the_last_record_of_a_case_counts(self):
        found = bundle_of(record(seconds=1), failed("a.csr", "no"), record(seconds=2))
        self.assertEqual([case.seconds for case in found.cases], [2])
        self.assertEqual(found.failures, [])

    def test_a_case_measured_again_with_more_samples_counts_once(self):
        often = record(seconds=2)
        often["case"]["repeat"] = 100
        self.assertEqual([case.seconds for case in bundle_of(record(seconds=1), often).cases], [2])

    def test_a_vendor_is_compared_before_our_own_kernels(self):
        names = ("cpu.spmm.naive", "cpu.spmm.row_loop", "cpu.spmm.auto", "cpu.spmm.vendor_mkl")
        self.assertEqual(bundle_of(*(record(kernel=name) for name in names)).against, "cpu.spmm.vendor_mkl")
        self.assertEqual(bundle_of(*(record(kernel=name) for name in names[:3])).against, "cpu.spmm.row_loop")

    def test_what_ran_beside_a_case_is_named(self):
        def beside(cpus, **gpu):
            return {"throttled": False, "cpu": {"clock_mhz": None, "throttle_events": None}, "gpu": None,
                    "others": {"cpus": cpus, "load": 1.0, **gpu}}
        found = bundle_of(record("a.csr", clocks=beside(3.25)), record("b.csr", clocks=beside(0.1)),
                          record("c.csr", clocks=beside(None)), record("d.csr"),
                          record("e.csr", clocks=beside(0.0, gpu_processes=2)), record("f.csr", clocks=beside(0.1, gpu_processes=0)))
        self.assertEqual(len(found.disturbed), 2)
        self.assertRegex(found.disturbed[1], r"e.*\(2 processes on the GPU\)")
        rows = {row.matrix: row.note for row in rows_of(found)}
        self.assertIn("measured beside 2 processes on the GPU", rows["e"])
        self.assertEqual(rows["f"], "")
        self.assertRegex(found.disturbed[0], r"a.*\(3.[23] CPUs\)")

    def test_a_profile_that_is_no_machine_is_refused(self):
        def profile(speed):
            return {"format": "csrkit machine profile", "version": 1, "host": "here",
                    "devices": [{"device": "cpu", "name": "a CPU", "copy_bytes_per_second": speed}]}
        self.assertEqual(bundle_of(record(), profile(1e10)).roofs[0].copy_bytes_per_second, 1e10)
        for speed in (1.2e18, 0, -1, "fast"):
            with self.assertRaisesRegex(InputError, r"devices\[0\].copy_bytes_per_second: expected a number"):
                bundle_of(record(), profile(speed))


if __name__ == "__main__":
    unittest.main()
