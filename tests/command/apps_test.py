"""apps/asp, apps/qr and apps/sor verify on every place, with one result for any number of ranks."""
import json
import tempfile
import unittest
from pathlib import Path

from command import BIN, fairlead, json_lines

PLACES = [(["shm"], (1, 2, 5)), (["udp"], (3,)), (["udp", "--lci", "nirx"], (3,)),
          (["loop"], (7,)), (["generic-hca"], (4,)), (["infiniband-pcix"], (3,)),
          (["myrinet-p3"], (2, 16)), (["myrinet-ppro"], (5,)),
          (["myrinet-ppro", "--lci", "sdma-hmc"], (6,)), (["myrinet-p3", "--lci", "rcpy"], (6,)),
          (["shm", "--mpi-device", "panda"], (1, 3)), (["udp", "--mpi-device", "panda"], (2,)),
          (["myrinet-p3", "--mpi-device", "panda", "--mpi-bcast", "binary"], (5,)),
          (["myrinet-ppro", "--lci", "nirx-hmc", "--mpi-device", "panda"], (7,)),
          (["udp", "--faults", "drop=0.01"], (3,)),
          (["myrinet-p3", "--lci", "nirx", "--mpi-device", "panda", "--faults", "drop=0.01"], (4,)),
          (["myrinet-ppro", "--lci", "hrx", "--faults", "drop=0.01"], (4,))]


class Apps(unittest.TestCase):
    def run_app(self, where, ranks, app, *arguments, stats=()):
        answer = fairlead("run", "-n", str(ranks), "--on", *where, *stats, str(BIN / app), "--json",
                          *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (result,) = json_lines(answer.stdout)
        return result

    def digest(self, where, app, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            self.run_app(where, 4, app, *arguments, stats=(f"--stats={path}",))
            return json.loads(path.read_text())["digest"]

    def results(self, app, key, *arguments):
        found = set()
        for where, counts in PLACES:
            for ranks in counts:
                result = self.run_app(where, ranks, app, "--verify", *arguments)
                # Expect: verified by rank 0.
                self.assertTrue(result["verified"], f"{where} {ranks}")
                found.add(result[key])
        return found

    def test_asp(self):
        # 61 vertices: shares differ by one row. Expect: the same paths everywhere.
        plain = self.results("asp", "sum", "--vertices", "61")
        self.assertEqual(len(plain), 1)
        self.assertEqual(self.results("asp", "sum", "--vertices", "61", "--poll"), plain)

    def test_qr(self):
        # Expect: the same bits everywhere, although ranks hold other columns.
        self.assertEqual(len(self.results("qr", "residual", "--size", "61")), 1)

    def test_qr_of_a_matrix_that_lacks_rank(self):
        # Expect: pivots in the right order, where norms lose all their digits after 20 steps.
        for ranks in (1, 3):
            result = self.run_app(["shm"], ranks, "qr", "--verify", "--size", "60",
                                  "--distinct", "20")
            self.assertTrue(result["verified"])

    def test_bodies_and_repetitions_agree(self):
        for platform in ("myrinet-p3", "myrinet-ppro"):
            for app, *size in (("asp", "--vertices", "40"), ("asp", "--vertices", "40", "--poll"),
                               ("qr", "--size", "40")):
                for device in ("direct", "panda"):
                    digests = {self.digest([platform, "--body", body, "--mpi-device", device], app,
                                           *size)
                               for body in ("fiber", "process", "fiber", "process")}
                    # Expect: one run, whatever the body, twice.
                    self.assertEqual(len(digests), 1, f"{platform} {app} {device}")

    def test_sor_by_puts(self):
        # Rows of 12 and of 8 KiB and a little: whole pages and parts of them are put.
        for columns in ("1536", "1026"):
            size = ("--rows", "24", "--columns", columns, "--iterations", "6")
            for where in (["myrinet-ppro", "--lci", "rcpy"], ["myrinet-p3", "--lci", "rcpy-hmc"],
                          ["myrinet-p3", "--lci", "nirx-rcpy", "--faults", "drop=0.01"]):
                for ahead in ((), ("--overlap",), ("--overlap", "--looks", "5")):
                    place = [*where, "--mpi-device", "panda"]
                    result = self.run_app(place, 5, "sor", "--verify", *size, *ahead)
                    # Expect: the bits of one processor.
                    self.assertTrue(result["verified"], f"{where} {ahead}")
                    digests = {self.digest([*place, "--body", body], "sor", *size, *ahead)
                               for body in ("fiber", "process", "fiber")}
                    # Expect: one run, whatever the body, and again.
                    self.assertEqual(len(digests), 1, f"{where} {ahead}")

    def test_the_papers_sizes(self):
        # Expect: what --paper stands for, without a run of that size.
        for app, text in (("asp", "1024 vertices"), ("qr", "1024 x 1024")):
            answer = fairlead("run", "-n", "1", str(BIN / app), "--help")
            self.assertIn(f"LCI paper: {text}", answer.stdout)

    def test_refusals(self):
        for app, option in (("asp", "--vertices"), ("qr", "--size")):
            answer = fairlead("run", "-n", "5", str(BIN / app), option, "4")
            # Expect: refused with the way out.
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn(f"raise {option}", answer.stderr)
            answer = fairlead("run", "-n", "1", str(BIN / app), option, "none")
            self.assertIn(f'cannot use "{option}"', answer.stderr)


if __name__ == "__main__":
    unittest.main()
