"""compare: what it says of each run is what runs of their own say."""
import json
import re
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

from browser import check_page, needs_chromium, pages_on_paper
from command import BIN, fairlead, json_lines

SOR = [str(BIN / "sor"), "--rows", "32", "--columns", "256", "--iterations", "3"]


class Compare(unittest.TestCase):
    def compare(self, *options):
        answer = fairlead("compare", "-n", "4", *options, *SOR)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_what_if_is_what_a_run_on_that_machine_takes(self):
        (row,) = json_lines(self.compare("--json", "--on", "myrinet-p3", "--lci", "sdma"))
        time_us = row["seconds"] * 1e6
        self.assertAlmostEqual(sum(row["path_us"].values()), time_us, places=3)
        resource, best_us = min(row["twice_as_fast_us"].items(), key=lambda item: item[1])
        (faster,) = json_lines(self.compare("--json", "--no-what-if", "--on", "myrinet-p3",
                                            "--set", "host.clock_MHz=1000", "--lci", "sdma"))
        # Expect: the same machine again, without the further runs.
        self.assertEqual(faster["seconds"], row["seconds"])
        self.assertNotIn("twice_as_fast_us", faster)
        saved = (time_us - best_us) / time_us * 100
        self.assertIn(f"twice as fast: {-saved:+.1f} %", row["why"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            answer = fairlead("run", "-n", "4", "--on", "myrinet-p3", "--lci", "sdma", "--faster",
                              f"{resource}=2", f"--stats={path}", *SOR)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            # Expect: what a run on that machine takes.
            self.assertAlmostEqual(json.loads(path.read_text())["virtual_time_us"], best_us,
                                   places=3)

    def test_equal_runs_are_one_row_and_worlds_stay_apart(self):
        answer = fairlead("compare", "-n", "4", "--on", "myrinet-p3,shm", "--lci", "all", *SOR)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        text = answer.stdout
        modelled, real, advice = text.strip().split("\n\n")
        rows = modelled.splitlines()
        # Expect: this program sends no multicast: who forwards makes no difference.
        self.assertRegex(modelled, r"sdma \(default\) = .*sdma-hmc")
        # Expect: one default a place.
        self.assertEqual(modelled.count("(default)"), 1)
        # Expect: the fastest first, what it is ahead by in its neighbour's ratio.
        self.assertIn(" best; ", rows[1])
        self.assertIn(" 1.00 ", rows[1])
        for row in rows[1:]:
            self.assertIn("% of the critical path", row)
        self.assertIn(" over ", rows[-1])
        whys = [row.split("   ")[-1] for row in rows]
        self.assertEqual(len(set(whys)), len(whys), text)
        self.assertIn("wall time", real)
        self.assertIn(" 1.00 ", real.splitlines()[1])
        # Expect: a sentence a place.
        sentences = advice.splitlines()
        self.assertEqual(len(sentences), 2, text)
        self.assertTrue(sentences[0].startswith("On myrinet-p3 take "), text)
        self.assertIn("Its limit: ", sentences[0])
        self.assertTrue(sentences[1].startswith("On shm take "), text)

    def test_what_happened_inside(self):
        rows = json_lines(self.compare("--json", "--on", "myrinet-p3", "--lci", "sdma,hrx",
                                       "--no-what-if", "--repeat", "2"))
        for row in rows:
            self.assertGreater(row["host_us_a_message"], 1)
            self.assertLess(0, row["waited_percent"])
            self.assertLess(row["waited_percent"], 100)
            self.assertGreater(row["message_p99_us"], 5)
            self.assertLess(row["message_p99_us"], row["seconds"] * 1e6)
            self.assertLess(0, row["busiest_link"]["percent"])
            self.assertRegex(row["busiest_link"]["name"], r"^(to|out of) node [0-3]$")
            # Expect: the seed makes no difference where nothing is drawn.
            self.assertEqual(row["repeats"], [row["seconds"]])
            self.assertEqual(row["spread_percent"], 0)
        # Expect: the host does the interface's part under hrx.
        self.assertGreater(rows[1]["host_us_a_message"], rows[0]["host_us_a_message"])
        text = self.compare("--on", "myrinet-p3", "--lci", "hrx", "--no-what-if", "--repeat", "3",
                            "--faults", "drop=0.05")
        heading, row = text.splitlines()[:2]
        for word in ("spread %", "host us", "waited %", "busiest link", "p99 us", "resent"):
            self.assertIn(word, heading)
        at = heading.index("spread %")
        # Expect: lost packets make a difference.
        self.assertGreater(float(row[at:at + len("spread %")]), 0)

    def test_messages_are_not_packets(self):
        (row,) = json_lines(self.compare("--json", "--on", "myrinet-p3", "--lci", "sdma",
                                         "--no-what-if"))
        heading, first = self.compare("--on", "myrinet-p3", "--lci", "sdma",
                                      "--no-what-if").splitlines()[:2]
        self.assertRegex(heading, r"ratio +messages +packets +bytes")
        self.assertRegex(first, rf" 1\.00 +{row['messages']} +{row['packets']} +{row['bytes']} ")
        # Expect: each that the program's ranks send each other, and those of collectives, which
        # are small here: a packet each.
        self.assertEqual(row["messages"], row["packets"] - row["counters"]["parts_sent"])
        wide = [*SOR[:1], "--rows", "32", "--columns", "4096", "--iterations", "3"]
        seen = {}
        for lci in ("sdma-1k", "sdma", "sdma-4k"):
            (seen[lci],) = json_lines(fairlead("compare", "-n", "4", "--on", "myrinet-p3", "--lci",
                                               lci, "--json", "--no-what-if", *wide).stdout)
        # Expect: as many messages whatever a packet holds, and more packets of smaller ones.
        self.assertEqual(len({one["messages"] for one in seen.values()}), 1, seen)
        self.assertGreater(seen["sdma-1k"]["packets"], seen["sdma"]["packets"])
        self.assertGreater(seen["sdma"]["packets"], seen["sdma-4k"]["packets"])
        self.assertGreater(seen["sdma-4k"]["packets"], seen["sdma-4k"]["messages"])
        # Expect: what the library takes on the host is for each message, not for each packet.
        for one in seen.values():
            self.assertGreater(one["host_us_a_message"], 1)

    def test_programs_with_nothing_to_compare(self):
        answer = fairlead("compare", "-n", "1", "--on", "myrinet-p3", "--lci", "sdma,pio",
                          "--no-what-if", *SOR)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("sends nothing", answer.stdout)
        self.assertIn("it does not matter", answer.stdout)
        binary = ("printf '\\377\\001 words\\n' >&2; head -c 5000 /proc/self/exe; "
                  "kill -SEGV $$")
        rows = json_lines(fairlead("compare", "-n", "2", "--on", "myrinet-p3,shm", "--json",
                                   "sh", "-c", binary).stdout)
        # Expect: a row each, with its reason.
        self.assertEqual([row["on"] for row in rows], ["myrinet-p3", "shm"])
        for row in rows:
            self.assertIn("rank", row["error"])
            self.assertIn("signal 11", row["error"])

    def test_protocols_of_shared_memory_are_told_apart(self):
        pages = [str(BIN / "pages"), "--pages", "4", "--rounds", "5"]
        rows = json_lines(fairlead("compare", "-n", "3", "--on", "myrinet-p3", "--no-what-if",
                                   "--json", "--dsm-protocol", "async,newgen", *pages).stdout)
        self.assertEqual([row["dsm_protocol"] for row in rows], ["async", "newgen"])
        self.assertNotEqual(rows[0]["seconds"], rows[1]["seconds"])
        for row in rows:
            # Expect: what a run with that protocol takes.
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "stats.json"
                answer = fairlead("run", "-n", "3", "--on", "myrinet-p3", "--dsm-protocol",
                                  row["dsm_protocol"], f"--stats={path}", *pages)
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertAlmostEqual(json.loads(path.read_text())["virtual_time_us"],
                                       row["seconds"] * 1e6, places=3)
        answer = fairlead("compare", "-n", "2", "--on", "myrinet-p3", "--dsm-protocol", "moon",
                          *pages)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("there are: newgen-full, newgen, async", answer.stderr)

    def test_the_page_shows_every_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            answer = fairlead("compare", "-n", "4", "--on", "myrinet-p3", "--lci",
                              "sdma,pio,direct",
                              "--no-what-if", "--html", str(path), *SOR)
            self.assertEqual(answer.returncode, 1, answer.stdout)
            html = path.read_text()
            # Expect: a heading a place, both runs' times, the third's reason, all of the text.
            self.assertEqual(html.count("<figure>"), 1)
            for line in answer.stdout.splitlines():
                for word in line.split():
                    self.assertIn(word.replace("<", "&lt;").replace('"', "&quot;"), html)
            self.assertGreater(html.count("<rect"), 4)
            self.assertNotIn("<script", html)
            # Expect: what the hosts' time goes to, a row a run, no more than all of it.
            hosts = html.partition("What the hosts' time goes to</h2>")[2].partition("</table>")[0]
            self.assertEqual(re.findall(r"<th>(\w+)&nbsp;%", hosts),
                             ["send", "receive", "poll", "protocol", "compute", "wait"])
            rows = re.findall(r"<tr>(<td.*?)</tr>", hosts)
            self.assertEqual(len(rows), 2)
            for row in rows:
                shares = [float(one) for one in re.findall(r"<td>([\d.]+)</td>", row)]
                self.assertEqual(len(shares), 6)
                self.assertLessEqual(sum(shares), 100.3)
                self.assertGreater(sum(shares), 50)

    def test_a_resource_has_one_fill_on_the_whole_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            self.compare("--on", "myrinet-ppro,myrinet-p3", "--lci", "sdma,pio", "--no-what-if",
                         "--html", str(path))
            html = path.read_text()
        fills = defaultdict(set)
        for fill, title in re.findall(r'fill="url\(#place\d-(\w+)\)"[^>]*><title>([^:<]*):', html):
            fills[title].add(fill)
        self.assertGreaterEqual(len(fills), 5, html)
        # Expect: no two of one fill, in either machine's figure, and the legends say the same.
        self.assertTrue(all(len(of) == 1 for of in fills.values()), fills)
        self.assertEqual(len(set.union(*fills.values())), len(fills))
        legend = re.findall(r'fill="url\(#place\d-(\w+)\)"/><text [^>]*>([^<]*)<', html)
        self.assertEqual({title: {fill} for fill, title in legend}, fills)
        # Expect: a number and its unit in one line.
        self.assertIn("&nbsp;% of the critical path", html)

    def test_many_ranks_have_a_picture_of_who_sends_to_whom(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            answer = fairlead("compare", "-n", "20", "--on", "myrinet-p3", "--no-what-if",
                              "--html", str(path), *SOR)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            html = path.read_text()
        pairs = set(re.findall(r"<title>(\d+) to (\d+): [\d.]+K? bytes, \d+ messages<", html))
        # Expect: neighbours, in both directions.
        self.assertEqual(pairs, {(str(a), str(b)) for a in range(20) for b in range(20)
                                 if abs(a - b) == 1})
        self.assertIn("38 pairs of ranks; those with most bytes:", html)

    @needs_chromium
    def test_the_page_in_a_browser_and_on_paper(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            answer = fairlead("compare", "-n", "4", "--on", "myrinet-p3,shm", "--lci",
                              "sdma,pio,rcpy,direct", "--no-what-if", "--html", str(path), *SOR)
            self.assertIn("myrinet-p3", answer.stdout)
            check_page(self, path.read_text(), figures=2)
            self.assertIn(pages_on_paper(path), range(1, 4))


if __name__ == "__main__":
    unittest.main()
