"""sweep: its points are what runs of their own say, it goes on where it stopped, and says who is
fastest where."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from browser import check_page, needs_chromium
from command import BIN, environment, fairlead, json_lines

SOR = [str(BIN / "sor"), "--rows", "32", "--columns", "256", "--iterations", "3"]
CLOCKS = "ni.clock_MHz=33,133,266"


class Sweep(unittest.TestCase):
    def sweep(self, *options, **more):
        answer = fairlead("sweep", "-n", "4", "--on", "myrinet-p3", *options, *SOR, **more)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def refused(self, *options):
        answer = fairlead("sweep", *options, *SOR)
        self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
        return answer.stderr

    def runs_of(self, text):
        return [line for line in json_lines(text) if line["kind"] == "run"]

    def test_a_point_is_what_a_run_on_that_machine_takes(self):
        lines = json_lines(self.sweep("--json", "--lci", "pio,sdma", "--set", CLOCKS))
        runs = [line for line in lines if line["kind"] == "run"]
        self.assertEqual([run["values"]["ni.clock_MHz"] for run in runs],
                         [33, 33, 133, 133, 266, 266])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            answer = fairlead("run", "-n", "4", "--on", "myrinet-p3", "--lci", "sdma", "--set",
                              "ni.clock_MHz=33", f"--stats={path}", *SOR)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertAlmostEqual(json.loads(path.read_text())["virtual_time_us"],
                                   runs[1]["seconds"] * 1e6, places=3)
        # Expect: a faster NI is never slower, and each value has one winner.
        for lci in ("pio", "sdma"):
            times = [run["seconds"] for run in runs if run["lci"] == lci]
            self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(sum(run["best"] for run in runs), 3)

    def test_what_is_kept_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as cache:
            first = self.sweep("--json", "--set", CLOCKS, XDG_CACHE_HOME=cache)
            kept = sorted((Path(cache) / "fairlead/sweeps").iterdir())
            self.assertEqual(len(kept), 3)
            for one in kept:
                stats = json.loads(one.read_text())
                stats["virtual_time_us"] = 1e6 + stats["virtual_time_us"]
                one.write_text(json.dumps(stats))
            # Expect: what the files say now, so nothing was run; and a wider sweep runs the rest.
            second = self.runs_of(self.sweep("--json", "--set", CLOCKS + ",300",
                                             XDG_CACHE_HOME=cache))
            for before, after in zip(self.runs_of(first), second[:3]):
                self.assertAlmostEqual(after["seconds"], before["seconds"] + 1, places=9)
            self.assertLess(second[3]["seconds"], 1)
            again = self.sweep("--json", "--fresh", "--set", CLOCKS, XDG_CACHE_HOME=cache)
            self.assertEqual(again, first)

    def test_one_that_was_ended_goes_on(self):
        with tempfile.TemporaryDirectory() as cache:
            options = ["sweep", "-n", "4", "--on", "myrinet-p3", "--set",
                       "ni.clock_MHz=33..266:40", "--json", *SOR]
            env = environment() | {"XDG_CACHE_HOME": cache}
            folder = Path(cache) / "fairlead/sweeps"
            with subprocess.Popen([str(BIN / "fairlead"), *options], env=env,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                while child.poll() is None and (not folder.exists() or
                                                len(list(folder.iterdir())) < 3):
                    time.sleep(0.01)
                child.send_signal(signal.SIGTERM)
                errors = child.communicate()[1].decode()
            self.assertEqual(child.returncode, 130, errors)
            self.assertIn("goes on from there", errors)
            kept = {one: one.stat().st_mtime_ns for one in folder.iterdir()
                    if one.suffix == ".json"}
            answer = fairlead(*options, XDG_CACHE_HOME=cache)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual(len(self.runs_of(answer.stdout)), 40)
            for one, written in kept.items():
                self.assertEqual(one.stat().st_mtime_ns, written)

    def test_a_change_of_the_fastest_is_named_with_its_value(self):
        # Programmed copies are fast until the bus takes long for each line.
        text = self.sweep("--lci", "pio,sdma", "--set", "bus.pio_line_us=0.05,0.267,5,20")
        rows = text.splitlines()
        self.assertTrue(rows[0].split()[0] == "bus.pio_line_us", text)
        self.assertEqual(sum(row.rstrip().endswith("*") or " * " in row for row in rows[1:5]), 4)
        lines = json_lines(self.sweep("--json", "--lci", "pio,sdma", "--set",
                                      "bus.pio_line_us=0.05,0.267,5,20"))
        (crossing,) = [line for line in lines if line["kind"] == "crossing"]
        self.assertEqual((crossing["faster_below"], crossing["faster_above"]), ("pio", "sdma"))
        low, high = crossing["between"]
        self.assertTrue(low < crossing["value"] < high)
        # Expect: by straight lines between the runs beside it.
        seconds = {(run["values"]["bus.pio_line_us"], run["lci"]): run["seconds"]
                   for run in lines if run["kind"] == "run"}
        before = seconds[low, "pio"] - seconds[low, "sdma"]
        after = seconds[high, "pio"] - seconds[high, "sdma"]
        self.assertAlmostEqual(crossing["value"], low + (high - low) * before / (before - after))
        self.assertIn("sdma becomes faster than pio, and is the fastest", text)

    def test_two_numbers_make_a_map(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "map.html"
            text = self.sweep("--lci", "pio,sdma", "--set", "ni.clock_MHz=33,133", "--faster",
                              "bus=1..2:2", "--html", str(page))
            self.assertTrue(text.startswith("ni.clock_MHz \\ faster bus"), text)
            self.assertEqual(text.count("sdma ") + text.count("pio "), 4 + text.count("the fastest")
                             + text.count("becomes") * 2, text)
            html = page.read_text()
            self.assertEqual(html.count("<rect"), 4)
            self.assertNotIn("<script", html)

    @needs_chromium
    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot: scripts/install-deps --test has it")
    def test_pages_in_a_browser(self):
        clocks = ["--set", "bus.pio_line_us=0.05,0.267,20"]
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            for more in ([], ["--faster", "bus=1..2:2"]):
                self.sweep("--lci", "pio,sdma", *clocks, *more, "--html", str(page))
                html = page.read_text()
                check_page(self, html, figures=1)
                self.assertIn("fastest changes", html)

    def test_ranks_and_loss(self):
        runs = self.runs_of(fairlead("sweep", "-n", "2..8:3", "--on", "myrinet-p3", "--lci", "hrx",
                                     "--json", "--faults", "drop=0..0.1:2", *SOR).stdout)
        self.assertEqual([list(run["values"].values()) for run in runs],
                         [[ranks, drop] for ranks in (2, 5, 8) for drop in (0, 0.1)])
        for quiet, lossy in zip(runs[::2], runs[1::2]):
            self.assertEqual(quiet["retransmissions"], 0)
            self.assertGreater(lossy["retransmissions"], 0)

    def test_what_is_wrong_is_said_before_anything_runs(self):
        place = ["--on", "myrinet-p3"]
        self.assertIn("sweep needs a number to change", self.refused(*place))
        self.assertIn("valid: ni.", self.refused(*place, "--set", "ni.clock=1,2"))
        self.assertIn("A must be less than B", self.refused(*place, "--set",
                                                            "ni.clock_MHz=5..5:3"))
        self.assertIn("A..B:N", self.refused(*place, "--set", "ni.clock_MHz=5..9"))
        self.assertIn("one number or two", self.refused(
            *place, "-n", "2,4", "--set", "ni.clock_MHz=33,66", "--set", "network.nodes=8,16"))
        self.assertIn("impossible", self.refused(*place, "--set", "ni.clock_MHz=33,1e12"))
        self.assertIn("drop", self.refused(*place, "--faults", "drop=0.5..2:3"))
        self.assertIn("sweep works on modelled platforms only",
                      self.refused("--on", "shm", "-n", "2,4"))
        # Expect: the price of it, from runs that were made.
        self.assertRegex(self.refused(*place, "-n", "4", "--set", "ni.clock_MHz=33..266:10000"),
                         r"10000 points of 1 implementation are \d+ runs to make, more than 2000; "
                         r".* min on \d+ processors: --most-runs \d+ allows that")


    def test_runs_that_fail_are_said_and_the_others_go_on(self):
        answer = fairlead("sweep", "-n", "4,100", "--on", "myrinet-p3", *SOR)
        self.assertEqual(answer.returncode, 1, answer.stdout)
        rows = answer.stdout.splitlines()
        self.assertRegex(rows[1], r"^ +4 +\d")
        self.assertRegex(rows[2], r"^ *100 +-$")
        self.assertRegex(answer.stdout, "1 run without a time: sdma: rank ")


if __name__ == "__main__":
    unittest.main()
