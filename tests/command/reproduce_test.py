"""fairlead reproduce: the benches' own numbers beside the published ones, kept and found again."""
import json
import re
import signal
import subprocess
import tempfile
import time
import tomllib
import unittest
from pathlib import Path

from command import BIN, SOURCE, environment, fairlead, json_lines

LINE_KEYS = {"paper", "table", "row", "column", "ours", "published", "unit"}
STATUS = {"measured", "predicted", "failed"}
PARAMETERS = {"Send overhead (os)": "os_us", "Recv overhead (or)": "or_us", "Latency (L)": "l_us",
              "Gap (g)": "g_us", "End-to-end latency": "end_to_end_us",
              "F&A latency": "fetch_add_us"}
PLATFORMS = {"PPro": "myrinet-ppro", "P3": "myrinet-p3"}


def published():
    """(paper, table, row, column) -> value, as the data files have it."""
    found = {}
    for path in sorted((SOURCE / "published").glob("*-paper.toml")):
        paper = path.name.removesuffix("-paper.toml")
        for table, columns in tomllib.loads(path.read_text()).items():
            for column, rows in columns.items():
                if column == "source":
                    continue
                for row, value in rows.items():
                    if isinstance(value, dict):
                        value = next(value[k] for k in ("value", "about", "below") if k in value)
                    found[paper, table, row, column] = value
    return found


class Reproduce(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *arguments):
        env = environment() | {"XDG_CACHE_HOME": self.folder.name}
        done = subprocess.run([str(BIN / "fairlead"), "reproduce", *arguments], env=env, text=True,
                              capture_output=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def document(self, *arguments):
        path = Path(self.folder.name) / "results.json"
        text = self.run_it(*arguments, "-o", str(path))
        return text, json.loads(path.read_text())

    def cache_files(self):
        return sorted(Path(self.folder.name).glob("fairlead/measurements/*"))

    def test_numbers_are_the_benches_own(self):
        lines = json_lines(self.run_it("table3", "table4", "--json"))
        ours = {(line["table"], line["row"], line["column"]): line for line in lines}
        checked = 0
        for label, platform in PLATFORMS.items():
            for lci in ("sdma", "pio"):
                answer = fairlead("bench", "logp", "--on", platform, "--lci", lci, "--json")
                (bench,) = json_lines(answer.stdout)
                for (_, row, column), line in ours.items():
                    if column == f"{label} I-{lci}":
                        # Expect: to the last bit.
                        self.assertEqual(line["ours"], bench[PARAMETERS[row]], (row, column))
                        checked += 1
        # Expect: both tables' columns of both platforms.
        self.assertEqual(checked, 2 * (6 + 5) + 2 * 5)

    def test_published_values(self):
        lines = json_lines(self.run_it("all", "--quick", "--json"))
        given = published()
        seen = set()
        for line in lines:
            self.assertLessEqual(LINE_KEYS, set(line))
            self.assertIn(line["status"], STATUS)
            key = (line["paper"], line["table"], line["row"], line["column"])
            # Expect: the data file's value, or none and ours a prediction.
            self.assertEqual(line["published"], given.get(key), key)
            if line["status"] == "measured":
                self.assertRegex(line["source"],
                                 "(LCI|Sun Fire Link|Quadrics|Split-C) paper|Liu et al.")
            if line["published"] is None:
                self.assertNotEqual(line["status"], "measured", key)
            elif line["ours"] is not None and line.get("relation") in ("=", "~"):
                error = (line["ours"] - line["published"]) / line["published"] * 100
                self.assertAlmostEqual(line["error_percent"], error, places=9)
            seen.add(key)
        # Expect: no published value without a cell, but for table 7, which takes minutes.
        quick = {key for key in given if key[1] != "table7"}
        self.assertEqual(quick - seen, set())

    def test_docs_reproduction_has_these_numbers(self):
        lines = json_lines(self.run_it("table3", "table4", "--json"))
        ours = {(line["column"], PARAMETERS[line["row"]]): line["ours"] for line in lines}
        text = (SOURCE / "docs/reproduction.md").read_text()
        text = text[text.index("| | o_s | o_r |"):].split("\n\n")[0]
        checked = 0
        for row in re.findall(r"^\| ((?:PPro|P3) (?:I-\w+|GM))[^|]*\|(.*)\|$", text, re.M):
            cells = [re.match(r" *([0-9.]+)", cell) for cell in row[1].split("|")]
            for parameter, cell in zip(PARAMETERS.values(), cells):
                if cell is None or (row[0], parameter) not in ours:
                    continue
                # Expect: what stands there is what is measured, rounded.
                self.assertAlmostEqual(float(cell[1]), ours[row[0], parameter], delta=0.0051,
                                       msg=(row[0], parameter))
                checked += 1
        # Expect: every cell of both tables.
        self.assertEqual(checked, len(ours))

    def test_what_was_measured_is_found_again(self):
        first, before = self.document("table4")
        files = {path: path.stat().st_mtime_ns for path in self.cache_files()}
        second, after = self.document("table4")
        # Expect: the same text, nothing measured, nothing written.
        self.assertEqual(first, second)
        self.assertFalse(any(run["cached"] for run in before["runs"]))
        self.assertTrue(all(run["cached"] for run in after["runs"]))
        self.assertEqual(files, {path: path.stat().st_mtime_ns for path in self.cache_files()})
        third, again = self.document("table4", "--fresh")
        # Expect: measured again, the same numbers.
        self.assertEqual(first, third)
        self.assertFalse(any(run["cached"] for run in again["runs"]))

    def test_a_damaged_entry_is_measured_again(self):
        first, _ = self.document("table4")
        damaged = self.cache_files()[0]
        damaged.write_text(damaged.read_text()[:40])
        second, document = self.document("table4")
        # Expect: that one measured, the numbers as before.
        self.assertEqual(first, second)
        self.assertEqual([run["cached"] for run in document["runs"]].count(False), 1)

    def test_document(self):
        _, document = self.document("table3", "figure7", "--quick")
        # Expect: docs/results-format.md.
        self.assertEqual((document["format"], document["version"]), ("fairlead-results", 1))
        self.assertEqual([one["name"] for one in document["platforms"]], list(PLATFORMS.values()))
        (table,) = document["tables"]
        self.assertEqual(table["rows"], list(PARAMETERS))
        places = [(cell["row"], cell["column"]) for cell in table["cells"]]
        self.assertEqual(len(places), len(set(places)))
        (figure,) = document["figures"]
        self.assertEqual(len(figure["panels"]), 4)
        for panel in figure["panels"]:
            for series in panel["series"]:
                self.assertIn(series["status"], STATUS)
                sizes = [x for x, _ in series["points"]]
                self.assertEqual(sizes, sorted(sizes))
                self.assertEqual(bool(sizes), series["status"] == "measured")
        marks = [mark for panel in figure["panels"] for mark in panel["marks"]]
        # Expect: the published cross-over as a place on the x axis.
        self.assertIn((1200, None), [(mark["x"], mark["y"]) for mark in marks])
        for statement in (*table["statements"], *figure["statements"]):
            self.assertIn(statement["holds"], (True, False, None))
        for run in document["runs"]:
            self.assertGreater(run["packets"]["data"], 0)
            self.assertTrue(run["lines"])

    def test_curves_over_nodes_and_latency(self):
        text, document = self.document("qsnet/figure9", "qsnet/figure11", "--quick")
        barriers, spread = document["figures"]
        (panel,) = barriers["panels"]
        self.assertEqual(panel["x"]["label"], "nodes")
        cells = {(cell["column"], cell["row"]): cell["ours"] for cell in barriers["cells"]}
        self.assertEqual([series["name"] for series in panel["series"]],
                         ["elan_gsync", "elan_hgsync", "elan_hgsyncEvent", "elan_gsync, elan-tree",
                          "elan_gsync, elan-host"])
        for series in panel["series"]:
            # Expect: the table's numbers, a point for each number of nodes.
            self.assertEqual([x for x, _ in series["points"]], [4, 8, 16, 64])
            for nodes, us in series["points"]:
                self.assertEqual(us, cells[series["name"], f"{nodes:.0f} nodes"])
        self.assertEqual({series["lci"] for series in panel["series"]},
                         {"elan", "elan-tree", "elan-host"})
        (panel,) = spread["panels"]
        self.assertEqual((panel["x"]["label"], panel["y"]["unit"]), ("latency", "%"))
        cells = {(cell["column"], cell["row"]): cell["ours"] for cell in spread["cells"]}
        for series in panel["series"]:
            # Expect: shares that rise to all at the longest, and half of them at the median.
            shares = [share for _, share in series["points"]]
            self.assertEqual(shares, sorted(shares))
            self.assertEqual(shares[-1], 100)
            longest = cells[series["name"], "the longest"]
            self.assertTrue(longest <= series["points"][-1][0] * 1.001 < 1.09 * longest)
            median = cells[series["name"], "half of them within"]
            self.assertTrue(all((share >= 50) == (us >= median)
                                for us, share in series["points"] if abs(us / median - 1) > 0.001))
        self.assertIn("operations within it in %", text)

    def test_interrupted(self):
        env = environment() | {"XDG_CACHE_HOME": self.folder.name}
        # Many measurements, the longest of which take seconds.
        command = [str(BIN / "fairlead"), "reproduce", "table3", "figure5", "--jobs", "1"]
        child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        deadline = time.monotonic() + 100
        while not self.cache_files() and time.monotonic() < deadline:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        # Expect: said so, and every kept file whole.
        self.assertEqual(child.returncode, 130, err)
        self.assertIn("interrupted", err)
        self.assertEqual(out, "")
        self.assertTrue(self.cache_files())
        for path in self.cache_files():
            self.assertTrue(json.loads(path.read_text())["lines"])

    def test_by_the_papers_name(self):
        bare = self.run_it("table1", "--json")
        # Expect: a paper's name before an id, or alone, changes nothing where there is one paper.
        self.assertEqual(self.run_it("lci/table1", "--json"), bare)
        self.assertEqual({line["paper"] for line in json_lines(bare)}, {"lci"})
        self.assertIn("lci/table1: ", self.run_it("table1"))

    def test_without_a_cache(self):
        env = environment() | {"XDG_CACHE_HOME": "/dev/null/nowhere"}
        done = subprocess.run([str(BIN / "fairlead"), "reproduce", "table1"], env=env, text=True,
                              capture_output=True, timeout=400, check=False)
        # Expect: told, and done all the same.
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing is kept", done.stderr)
        self.assertIn("Host clock", done.stdout)

    def test_errors(self):
        refused = fairlead("reproduce", "table8")
        # Expect: refused with the list of what there is.
        self.assertEqual(refused.returncode, 2)
        self.assertIn("lci/figure9", refused.stderr)
        unwritable = fairlead("reproduce", "table1", "-o", "/dev/null/nowhere.json")
        self.assertEqual(unwritable.returncode, 1)
        self.assertIn("/dev/null/nowhere.json", unwritable.stderr)


if __name__ == "__main__":
    unittest.main()
