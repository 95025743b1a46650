"""--explain: the critical path is the whole run, re-runs say what a faster resource is worth."""
import json
import tempfile
import unittest
from pathlib import Path

from command import BIN, fairlead, json_lines

SOR = [str(BIN / "sor"), "--rows", "16", "--columns", "64", "--iterations", "4"]


class Explain(unittest.TestCase):
    def run_stats(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            answer = fairlead("run", "-n", "3", "--on", "myrinet-p3", f"--stats={path}", *options,
                              *SOR)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            return answer, json.loads(path.read_text())

    def test_run(self):
        _, plain = self.run_stats()
        self.assertNotIn("explanation", plain)
        for body in ("fiber", "process"):
            answer, stats = self.run_stats("--explain", "--body", body)
            # Expect: the run itself is what it is without, its output printed once.
            self.assertEqual(stats["digest"], plain["digest"])
            self.assertEqual(answer.stdout.count("sor 16 x 64"), 1)
            explanation = stats["explanation"]
            self.assertAlmostEqual(sum(explanation["path_us"].values()), plain["virtual_time_us"],
                                   places=3)
            self.assertGreaterEqual(len(explanation["twice_as_fast_us"]), 3)
            for resource, time in explanation["twice_as_fast_us"].items():
                # Expect: what a run on that machine takes.
                _, faster = self.run_stats("--faster", f"{resource}=2", "--body", body)
                self.assertAlmostEqual(faster["virtual_time_us"], time, places=3)
                self.assertEqual(faster["faster"], f"{resource}=2")
            # Expect: one of them helps.
            self.assertLess(min(explanation["twice_as_fast_us"].values()), plain["virtual_time_us"])
            self.assertIn("critical path of", answer.stderr)
            self.assertIn("what helps most: ", answer.stderr)

    def test_bench(self):
        answer = fairlead("bench", "latency", "--on", "myrinet-ppro", "-n", "2", "--sizes", "16",
                          "--explain", "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        row, explained = json_lines(answer.stdout)
        self.assertEqual(row["bytes"], 16)
        explanation = explained["explanation"]
        self.assertAlmostEqual(sum(explanation["path_us"].values()), explanation["time_us"],
                               places=3)
        text = fairlead("bench", "latency", "--on", "myrinet-ppro", "-n", "2", "--sizes", "16,1K",
                        "--explain").stdout
        for words in ("critical path of", "as it is", "twice as fast", "1024 bytes"):
            self.assertIn(words, text)

    def test_real_places_have_no_model(self):
        for option in (["--explain"], ["--faster", "ni=2"]):
            answer = fairlead("run", *option, *SOR)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(option[0] + " works on modelled platforms only", answer.stderr)
            answer = fairlead("bench", "latency", *option)
            self.assertEqual(answer.returncode, 2)

    def test_what_cannot_be_faster(self):
        answer = fairlead("run", "--on", "myrinet-p3", "--faster", "cpu=2", *SOR)
        self.assertEqual(answer.returncode, 2)
        # Expect: the resources, and an example.
        self.assertIn("host, bus, dma, ni, link, visibility", answer.stderr)


if __name__ == "__main__":
    unittest.main()
