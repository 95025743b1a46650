"""fairlead run --dsm-profile, --dsm-races: what page-based shared memory did, by page and line."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, NO_COMPUTING, environment, fairlead

# What it does is its argument; each line that the tests look for ends in a comment with its name.
PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <fairlead/systems/dsm/tmk.h>

static char* block;

static void blocks(void) {
  for (unsigned i = 0; i < 64; ++i) block[Tmk_proc_id * 64 + i] += 1; /* blocks */
}
static void among(void) {
  for (unsigned i = Tmk_proc_id; i < 96; i += Tmk_nprocs) block[i] += 1; /* among */
}
static void same_bytes(void) {
  memset(block + 100 + 4 * Tmk_proc_id, 1 + (int)Tmk_proc_id, 8); /* same */
}
static void under(unsigned lock) {
  Tmk_lock_acquire(lock);
  *(int*)(block + 512) += 1; /* under */
  Tmk_lock_release(lock);
}

static int seen;
static void changes(int round) {
  if (Tmk_proc_id == 0) block[600] = 1 + round; /* changes */
}
static void looks(void) {
  if (Tmk_proc_id != 0) seen += *(volatile char*)(block + 600); /* looks */
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  Tmk_startup(argc, argv);
  if (Tmk_proc_id == 0) {
    block = Tmk_malloc(2 * 4096);
    memset(block, 0, 4096);
    Tmk_distribute(&block, sizeof block);
  }
  Tmk_barrier(0);
  for (int round = 0; round < 3; ++round) {
    if (strcmp(what, "blocks") == 0) blocks();
    if (strcmp(what, "among") == 0) among();
    if (strcmp(what, "same") == 0) same_bytes();
    if (strcmp(what, "lock") == 0) under(3);
    if (strcmp(what, "locks") == 0) under(3 + 3 * Tmk_proc_id);
    if (strcmp(what, "turns") == 0 && round % (int)Tmk_nprocs == (int)Tmk_proc_id) under(3);
    if (strcmp(what, "reads") == 0 || strcmp(what, "handed") == 0) changes(round);
    if (strcmp(what, "handed") == 0) Tmk_barrier(2);
    if (strcmp(what, "reads") == 0 || strcmp(what, "handed") == 0) looks();
    Tmk_barrier(1);
  }
  Tmk_exit(0);
}
"""
RANKS = 3
PLACES = (["shm"], ["udp"], ["shm", "--dsm-protocol", "async"], ["myrinet-p3"],
          ["generic-hca", "--dsm-protocol", "newgen"])


def line_of(name):
    (number,) = [i for i, line in enumerate(PROGRAM.splitlines(), 1) if f"/* {name} */" in line]
    return f"program.c:{number} ("


class DsmWatch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.built.name)
        (cls.folder / "program.c").write_text(PROGRAM)
        prefix = BIN.parent
        subprocess.run(["cc", "-g", "-O1", f"-I{prefix}/include", "program.c", f"-L{prefix}/lib",
                        f"-Wl,-rpath,{prefix}/lib", "-lfairlead_dsm", "-lfairlead", "-o",
                        "program"], check=True, env=environment(), cwd=cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def run_job(self, what, *options, **more):
        done = fairlead("run", "-n", str(RANKS), "--timeout", "60", *options, "./program", what,
                        cwd=self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return NO_COMPUTING.sub("", done.stderr)

    def profile(self, what, *options):
        self.run_job(what, "--dsm-profile=profile.json", *options)
        return json.loads((self.folder / "profile.json").read_text())

    def test_counts_by_page_and_line(self):
        for place in PLACES:
            with self.subTest(place=place):
                found = self.profile("blocks", "--on", *place)
                self.assertEqual((found["kind"], found["version"], found["ranks"]),
                                 ("dsm-profile", 1, RANKS))
                (line,) = [each for each in found["lines"]
                           if each["place"].startswith(line_of("blocks"))]
                # Expect: each round two ranks have a fault, a fetch and a diff of their 64 bytes;
                # the home has none, and all three have a first write.
                self.assertEqual((line["faults"], line["fetches"], line["first_writes"],
                                  line["diffs"], line["diff_bytes"]), (6, 6, 9, 6, 6 * 64))
                self.assertGreater(line["fault_s"], 0)
                # Expect: pages, lines and ranks are sums of the same.
                for member in ("faults", "first_writes", "fetches", "diffs", "diff_bytes"):
                    sums = {sum(each[member] for each in found[rows])
                            for rows in ("pages", "lines", "per_rank")}
                    self.assertEqual(len(sums), 1, member)
                self.assertEqual([of["barriers"] for of in found["per_rank"]],
                                 [of["barriers"] for of in found["per_rank"]][:1] * RANKS)

    def test_false_sharing(self):
        for place in PLACES:
            with self.subTest(place=place):
                (page,) = self.profile("blocks", "--on", *place)["false_sharing"]
                # Expect: the home's bytes are told apart from what came to its page meanwhile.
                self.assertEqual(page["parts"], [
                    {"begin": 64 * rank, "end": 64 * rank + 64, "ranks": [rank]}
                    for rank in range(RANKS)])
                self.assertEqual(page["meetings"], 9)
                for rank, writer in enumerate(page["writers"]):
                    self.assertEqual(writer["rank"], rank)
                    self.assertTrue(writer["places"][0].startswith(line_of("blocks")))
                self.assertRegex(page["remedy"], "of up to 64 bytes, at a page of its own")
        (page,) = self.profile("among")["false_sharing"]
        self.assertRegex(page["remedy"], "alternates 95 times: put what one rank writes together")
        # Expect: those who take turns share nothing falsely.
        for what in ("lock", "turns"):
            self.assertEqual(self.profile(what)["false_sharing"], [], what)

    def test_races_are_told(self):
        for place in PLACES:
            with self.subTest(place=place):
                text = self.run_job("same", "--dsm-races", "--on", *place)
                # Expect: bytes that both wrote; the program's line, though a library wrote.
                for first, second, begin in ((0, 1, 104), (1, 2, 108)):
                    self.assertRegex(
                        text, rf"page \d+, bytes {begin} to {begin + 3} \(0x\w+\): rank {first} at "
                        rf"{re.escape(line_of('same'))}same_bytes\) and rank {second} at "
                        rf"{re.escape(line_of('same'))}same_bytes\)")
                self.assertIn("races: 2\n", text)
        # Expect: locks that are not the same order nothing, though one rank manages all of them.
        text = self.run_job("locks", "--dsm-races")
        self.assertIn("races: 3\n", text)
        self.assertIn(line_of("under"), text)

    def test_races_of_reads_are_told(self):
        for place in PLACES:
            with self.subTest(place=place):
                text = self.run_job("reads", "--dsm-races", "--on", *place)
                for reader in range(1, RANKS):
                    self.assertRegex(
                        text, rf"page \d+, bytes 600 to 600 \(0x\w+\): rank 0 at "
                        rf"{re.escape(line_of('changes'))}\w+\) and rank {reader} at "
                        rf"{re.escape(line_of('looks'))}\w+\), which reads, with no lock or "
                        r"barrier between them, 3 times")
                self.assertIn("races: 2\n", text)
        for race in self.profile("reads", "--dsm-races")["races"]:
            self.assertEqual(race["reads"], [False, True])

    def test_no_races_are_told_where_there_are_none(self):
        for what, places in (("blocks", PLACES), ("lock", PLACES), ("among", PLACES[:1]),
                             ("turns", PLACES[:1]), ("handed", PLACES)):
            for place in places:
                with self.subTest(what=what, place=place):
                    self.assertEqual(self.run_job(what, "--dsm-races", "--on", *place),
                                     "races: none seen\n")

    def test_text(self):
        for options, more in ((["--dsm-profile", "--dsm-races"], {}),
                              ([], {"FAIRLEAD_DSM_PROFILE": "-", "FAIRLEAD_DSM_RACES": "1"})):
            text = self.run_job("same", *options, **more)
            self.assertRegex(text, r"^profile of page-based shared memory: 3 ranks, .*, protocol "
                                   r"newgen-full, engine mprotect\n")
            self.assertRegex(text, r"\nlines: the \d+ of \d+ with most time\n")
            self.assertRegex(text, r"\nfalse sharing: ")
            self.assertRegex(text, r"\nraces: 2\n")

    def test_virtual_time_stays(self):
        def time(*options):
            self.run_job("blocks", "--on", "infiniband-pcie", "--stats=stats.json", *options)
            return json.loads((self.folder / "stats.json").read_text())["virtual_time_us"]
        found = self.profile("blocks", "--on", "infiniband-pcie")
        elapsed = max(of["elapsed_s"] for of in found["per_rank"]) * 1e6
        # Expect: all that the profile adds is at the end, behind what it measures.
        self.assertLessEqual(elapsed, time())

    def test_engine_that_sees_first_writes_of_pages_that_were_not_here_alone(self):
        found = self.profile("blocks", "-x", "FAIRLEAD_DSM_ENGINE=uffd")
        self.assertEqual(found["engine"], "uffd")
        # Expect: two ranks' pages are put out in each round, and fetched as they are written.
        (line,) = [each for each in found["lines"] if each["place"].startswith(line_of("blocks"))]
        self.assertEqual((line["diffs"], line["first_writes"]), (6, 6))

    def test_report(self):
        self.profile("same", "--dsm-races")
        done = fairlead("report", "--dsm-profile", "profile.json", "-o", "p.html", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "p.html\n"), done.stderr)
        page = (self.folder / "p.html").read_text()
        # Expect: a bar of five shares and two texts a rank, a cell a page, the races.
        breakdown = page[page.index('id="breakdown"'):]
        self.assertEqual(breakdown[:breakdown.index("</svg>")].count("<rect "), 5 * RANKS)
        heat = page[page.index('id="heat"'):]
        used = json.loads((self.folder / "profile.json").read_text())["pages"]
        self.assertEqual(heat[:heat.index("</svg>")].count("<rect "), len(used))
        self.assertIn(line_of("same"), heat)
        self.assertEqual(page.count('<li class="bad">'), 2)
        self.assertNotIn("<script", page)
        for content, text in ((None, "cannot read"), ("{}", "not a profile"),
                              ('{"kind": "dsm-profile", "version": 2}', "another version")):
            path = self.folder / "other.json"
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
            done = fairlead("report", "--dsm-profile", str(path), cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
            self.assertIn("fairlead run --dsm-profile=FILE", done.stderr)

    def test_off(self):
        self.assertEqual(self.run_job("same"), "")

    def test_file_that_cannot_be_written(self):
        self.assertRegex(self.run_job("lock", "--dsm-profile=/nowhere/profile.json"),
                         "the DSM profile cannot be written to /nowhere/profile.json")


if __name__ == "__main__":
    unittest.main()
