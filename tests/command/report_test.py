"""`fairlead report`: a page that a browser shows without a complaint, on a screen and on paper."""
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from browser import check_page, dresses_of, needs_chromium, pages_on_paper
from command import fairlead, json_lines


def series(name, points):
    return {"name": name, "platform": "myrinet-p3", "lci": "sdma", "baseline": False,
            "status": "measured" if points else "failed", "reason": "", "points": points}


def panel(name, label, curves):
    return {"id": name, "title": f"title of {name}",
            "x": {"label": "message size", "unit": "bytes", "scale": "log"},
            "y": {"label": label, "unit": "us" if label == "latency" else "MB/s",
                  "scale": "linear"},
            "series": curves, "marks": [{"x": 64, "y": 12, "label": "m"},
                                        {"x": None, "y": 9, "label": "m"},
                                        {"x": 300, "y": None, "label": "m"}]}


# More curves than there are colours, of which several coincide.
MANY = [series(f"I-c{i}", [[16, 5.0 + i // 3], [1024, 50.0 - i // 3]]) for i in range(12)]
DOCUMENT = {
    "format": "fairlead-results", "version": 1, "commit": "abc", "build": "def", "seed": 1,
    "quick": True,
    "platforms": [{"name": "myrinet-p3", "label": "P3", "description": "a & b", "hash": "1"}],
    "tables": [{"id": "table3", "title": "LogP <values>", "source": "LCI paper",
                "rows": ["Gap (g)"], "columns": ["P3 I-sdma", "P3 GM"],
                "cells": [{"row": "Gap (g)", "column": "P3 I-sdma", "ours": 4.3,
                           "published": 4.0, "relation": "=", "unit": "us",
                           "error_percent": 7.5, "status": "measured"},
                          {"row": "Gap (g)", "column": "P3 GM", "ours": None, "published": None,
                           "unit": "us", "status": "failed", "reason": "no GM"}],
                "statements": [{"text": "fast", "holds": True, "detail": "4.3", "source": "5"}]}],
    "figures": [{"id": "figure7", "title": "Latency", "source": "LCI paper", "cells": [],
                 "statements": [],
                 "panels": [panel("latency", "latency",
                                  [series("I-pio", [[16, 6.0], [256, 10.0], [1024, 30.0]]),
                                   series("I-it's `x`", [[16, 8.0], [256, 11.0], [1024, 20.0]]),
                                   series("GM", [])]),
                            panel("speed", "throughput",
                                  [series("I-pio", [[16, 2.0], [1024, 60.0]]),
                                   series("I-sdma", [[16, 1.0], [1024, 50.0]])])]},
                {"id": "figure8", "title": "Many", "source": "LCI paper", "cells": [],
                 "statements": [], "panels": [panel("many", "latency", MANY)]}],
    "runs": [{"command": "fairlead bench logp --on " + "x" * 200,
              "packets": {"data": 12, "bytes": 192, "drops": {"corrupt": 1, "foreign": 2}}}],
}


@unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot: scripts/install-deps --test has it")
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.base = Path(cls.folder.name)
        (cls.base / "results.json").write_text(json.dumps(DOCUMENT))
        cls.answer = fairlead("report", cwd=cls.base)
        page = cls.base / "report.html"
        cls.html = page.read_text() if page.exists() else ""

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_page(self):
        self.assertEqual(self.answer.returncode, 0, self.answer.stderr)
        # Expect: three panels and the journeys on one platform, all there.
        self.assertEqual(self.html.count("<svg "), 4)
        self.assertIn("they cross at", self.html)
        self.assertIn("is highest at both ends", self.html)
        self.assertIn("has the shortest way", self.html)
        self.assertIn("LogP &lt;values&gt;", self.html)
        self.assertIn("+7.5 %", self.html)
        self.assertIn("GM (failed)", self.html)
        # Expect: the head counts what is compared, and says what a study is called.
        self.assertIn("Of 1 values that can be compared with a published one, <b>0 lie within 5 %"
                      "</b> and 1 within 8 %", self.html)
        self.assertIn("Of 1 statements that the papers make in words, <b>1 hold</b>", self.html)
        self.assertIn("Figure 7: Latency", self.html)
        self.assertIn("at 1K bytes", self.html)
        # Expect: the axis' sizes as in the text, and a value with its error in one line.
        self.assertRegex(self.html, r">1K ?<")
        self.assertNotRegex(self.html, r">\d+ki ?<")
        self.assertRegex(self.html, r'class="note whole">\(4.000, <span class="good">\+7.5 %')
        # Expect: in the head, which paper's figure it is.
        self.assertIn(">Table III, LCI paper</a>", self.head_of_a_bad_one())
        # Expect: a cross-over between the points that enclose it.
        crossing = float(re.search(r"they cross at (\d+) bytes", self.html).group(1))
        self.assertTrue(256 < crossing < 1024)
        # Expect: nothing from elsewhere.
        addresses = set(re.findall(r"https?://[^\"' ]+", self.html))
        self.assertLessEqual(addresses, {"http://www.w3.org/2000/svg",
                                         "http://www.w3.org/1999/xlink"})
        self.assertNotIn("<script", self.html)

    def test_values_of_figures_are_a_matrix(self):
        def cell(row, column, ours, published=None):
            return {"row": row, "column": column, "ours": ours, "published": published,
                    "relation": published and "=", "unit": "us",
                    "error_percent": published and 1.0,
                    "status": "measured" if published else "predicted"}
        platforms = [{"name": f"no-{label}", "label": label} for label in ("PPro", "P3")]
        cells = [cell(row, f"{label} {lci}", 10 + i, 12.0 if i == 3 else None)
                 for i, (row, label, lci) in enumerate(
                     (row, label, lci) for row in ("Latency", "Peak") for label in ("PPro", "P3")
                     for lci in ("I-sdma", "I-pio"))]
        text = [cell("a place", "one", 1), cell("another", "two", 2), cell("a third", "three", 3)]
        figure = {"paper": "lci", "title": "t", "source": "LCI paper", "panels": [],
                  "statements": []}
        document = {**DOCUMENT, "tables": [], "platforms": platforms, "figures": [
            {**figure, "id": "figure9", "cells": cells},
            {**figure, "id": "figure8", "cells": cells[:4]},
            {**figure, "id": "figure6", "cells": text}]}
        path = self.base / "matrix.json"
        path.write_text(json.dumps(document))
        answer = fairlead("report", "--results", str(path), "-o", "matrix.html", cwd=self.base)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        tables = re.findall(r'<table(?: class="matrix")?>.*?</table>',
                            (self.base / "matrix.html").read_text(), re.DOTALL)
        tables = [[re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
                   for row in re.findall(r"<tr>(.*?)</tr>", table)] for table in tables]
        both, one, listed = tables[-3:]
        # Expect: a row an implementation, a column a quantity and platform, its unit in each cell.
        self.assertEqual(both[0], ["", "Latency, PPro", "Latency, P3", "Peak, PPro", "Peak, P3"])
        self.assertEqual([row[0] for row in both[1:]], ["I-sdma", "I-pio"])
        self.assertIn("10.00 us", both[1][1])
        self.assertIn("predicted", both[1][1])
        self.assertIn("13.00 us", both[2][2])
        self.assertIn("(12.00, ", both[2][2])
        # Expect: one quantity stands in the corner.
        self.assertEqual(one[0], ["Latency", "PPro", "P3"])
        # Expect: what makes no matrix is a list.
        self.assertEqual(listed[0], ["of the text", "", "ours (published)"])
        self.assertEqual([row[:2] for row in listed[1:]],
                         [["a place", "one"], ["another", "two"], ["a third", "three"]])

    def test_the_journey_is_what_the_table_measures(self):
        journey = self.html.partition('class="journey"')[2]
        totals = dict(re.findall(r">(I-\w+)</text>(?:<rect[^>]*><title>[^<]*</title></rect>)*"
                                 r"<text[^>]*>([\d.]+) us</text>", journey))
        self.assertLessEqual({"I-sdma", "I-pio", "I-rcpy"}, set(totals))
        # A put's journey ends before its host takes the notification.
        for lci, more, delta in (("sdma", [], 0.05), ("pio", [], 0.05), ("rcpy", ["--put"], 0.2)):
            (row,) = json_lines(fairlead("bench", "latency", "--on", "myrinet-p3", "--lci", lci,
                                         "--sizes", "16", "--json", *more).stdout)
            # Expect: remote-memory copy as Table IV has it, by puts.
            self.assertAlmostEqual(float(totals[f"I-{lci}"]), row["one_way_us"],
                                   delta=delta)

    def head_of_a_bad_one(self):
        """The page of a table whose statement does not hold."""
        table = dict(DOCUMENT["tables"][0], paper="lci")
        table["statements"] = [dict(table["statements"][0], holds=False)]
        path = self.base / "bad.json"
        path.write_text(json.dumps({**DOCUMENT, "tables": [table], "figures": []}))
        answer = fairlead("report", "--results", str(path), "-o", "bad.html", cwd=self.base)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return (self.base / "bad.html").read_text()

    def test_curves_are_told_apart_without_colour(self):
        (many,) = [svg for svg in re.findall(r"<svg .*?</svg>", self.html, re.DOTALL)
                   if "I-c11" in svg]
        dresses = dresses_of(many)
        # Expect: points and dashes that no other curve has, nor what is published; all of them in
        # the legend.
        self.assertEqual(len(dresses), len(MANY) + 1)
        self.assertEqual(len(set(dresses)), len(MANY) + 1)
        for one in MANY:
            self.assertIn(f">{one['name']}<", many)
        self.assertIn(">published<", many)

    def test_without_a_document_it_shows_what_reproduce_keeps(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = fairlead("report", "--quick", cwd=folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            made = (Path(folder) / "report.html").read_text()
            # Expect: the same page as by way of a document
            fairlead("reproduce", "all", "--quick", "--output", "results.json", cwd=folder)
            answer = fairlead("report", "-o", "second.html", cwd=folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual((Path(folder) / "second.html").read_text(), made)
            self.assertIn("LogP", made)
            answer = fairlead("report", "--quick", "--results", "results.json", cwd=folder)
            self.assertNotEqual(answer.returncode, 0)

    def test_refusals(self):
        for content, text in ((None, "cannot read"), ("", "not a results document"),
                              ("[1", "not a results document"), ("{}", "not a results document"),
                              ('{"format":"fairlead-results","version":9}', "another version")):
            path = self.base / "other.json"
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
            answer = fairlead("report", "--results", str(path), cwd=self.base)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(text, answer.stderr)
            self.assertIn("fairlead reproduce all", answer.stderr)

    def test_odd_values_are_left_out(self):
        for spoil in ({"tables": 3, "figures": "x", "platforms": None, "runs": {}},
                      {"tables": [{"rows": [1], "columns": [None], "cells": [[]]}], "figures": [{
                          "panels": [{"x": 1, "series": [{"points": [[1], ["a", 2], 5]}]}]}],
                       "platforms": [{"name": "no-such-place"}], "runs": [7]}):
            path = self.base / "odd.json"
            path.write_text(json.dumps({**DOCUMENT, **spoil}))
            answer = fairlead("report", "--results", str(path), "-o", "odd.html", cwd=self.base)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            # Expect: no picture of journeys that nobody made.
            odd = (self.base / "odd.html").read_text()
            self.assertNotIn("journey-no-such-place", odd)

    @needs_chromium
    def test_in_a_browser(self):
        check_page(self, self.html, figures=4)

    @needs_chromium
    def test_printed(self):
        # Expect: a document of a few pages.
        self.assertIn(pages_on_paper(self.base / "report.html"), range(1, 6))


if __name__ == "__main__":
    unittest.main()
