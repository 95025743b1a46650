"""What a browser makes of a page of ours, on a screen of 1280 pixels and on paper."""
import html as html_text
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = unittest.skipUnless(CHROMIUM, "no chromium: scripts/install-deps --test has it")
# Written into a copy of the page: what the browser made of it.
PROBE = """<script>
window.onload = () => {
  const all = [...document.querySelectorAll("figure")];
  const shown = all.map(f => f.querySelector("svg").getBoundingClientRect());
  const cut = [];
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (text.textContent.trim() && (box.left < frame.left - 1 || box.right > frame.right + 1 ||
          box.top < frame.top - 1 || box.bottom > frame.bottom + 1)) cut.push(text.textContent);
    }
  }
  for (const cell of document.querySelectorAll("td, th, pre, li, p, figcaption")) {
    if (cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth) cut.push(cell.textContent);
  }
  const fill = e => e.getAttribute("fill");
  const bars = all.map(f => [...f.querySelectorAll("svg rect[fill^=url]")]);
  document.title = JSON.stringify({
    figures: all.length,
    drawn: shown.filter(r => r.width > 200 && r.height > 20).length,
    tallest: Math.max(...shown.map(r => r.height)),
    whole: all.every(f => getComputedStyle(f).breakInside === "avoid"),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    cut: cut,
    unexplained: bars.flatMap(of => {
      const known = of.filter(r => !r.querySelector("title")).map(fill);
      return known.length === 0 ? [] : of.map(fill).filter(one => !known.includes(one));
    }),
  });
};
</script>"""


def browse(*arguments):
    """Runs the browser; fails at a word in its console."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={profile}", "--enable-logging=stderr", *arguments],
            capture_output=True, text=True, timeout=400, check=False)
    if done.returncode != 0 or "CONSOLE" in done.stderr:
        raise AssertionError(done.stderr)
    return done.stdout


def facts_of(html):
    """What a browser says of a page: see PROBE."""
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.html"
        probe.write_text(html.replace("</body>", PROBE + "</body>"))
        shown = browse("--window-size=1280,900", "--dump-dom", probe.as_uri())
    title = re.search(r"<title>(\{.*?\})</title>", shown, re.DOTALL).group(1)
    return json.loads(html_text.unescape(title))


def check_page(test, html, figures):
    """Holds a page against what it must be: drawn, nothing cut off, legends and figures whole."""
    facts = facts_of(html)
    test.assertEqual(facts["figures"], figures)
    test.assertEqual(facts["drawn"], figures)
    # Expect: no scrolling sideways at 1280 px, no text beyond its picture or cell.
    test.assertLessEqual(facts["overflow"], 0)
    test.assertEqual(facts["cut"], [])
    # Expect: every fill of a bar in the legend.
    test.assertEqual(facts["unexplained"], [])
    test.assertTrue(facts["whole"])
    test.assertLess(facts["tallest"], 900)


def pages_on_paper(page):
    """How many pages of paper a page fills."""
    with tempfile.TemporaryDirectory() as folder:
        paper = Path(folder) / "page.pdf"
        browse(f"--print-to-pdf={paper}", page.as_uri())
        content = paper.read_bytes()
    if not content.startswith(b"%PDF"):
        raise AssertionError("no document")
    return len(re.findall(rb"/Type\s*/Page\b", content))


def dress_of(curve):
    """The points and dashes of a curve in gnuplot's SVG, without their colour."""
    points = re.findall(r"gpPt(\d+)", curve)
    dashes = re.findall(r"stroke-dasharray='([^']*)'", curve)
    return (points[0] if points else "", dashes[0] if dashes else "")


def dresses_of(svg):
    """Of all curves of a picture that have points."""
    curves = re.split(r"<g [^>]*id=\"[^\"]*gnuplot_plot_\d+\"", svg)[1:]
    return [dress_of(curve) for curve in curves if "gpPt" in curve]
