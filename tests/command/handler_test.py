"""--handler: the processor of a modelled node that serves what interrupts a rank."""
import unittest

from command import BIN, fairlead, json_lines

INFINIBAND = ("--on", "infiniband-pcie")
PAGES = str(BIN / "pages")
LU = str(BIN / "lu")
COMMANDS = (("run",), ("compare",), ("bench", "latency"))


def page_us(protocol, *options):
    """Virtual, so that runs are equal."""
    answer = fairlead("run", "-n", "2", *INFINIBAND, "--dsm-protocol", protocol, "--dsm-faithful",
                      *options, PAGES, "--only", "page", "--pages", "16", "--json")
    (line,) = json_lines(answer.stdout)
    return line["page_us"]


def lu_seconds(*options):
    answer = fairlead("run", "-n", "2", *INFINIBAND, "--dsm-protocol", "async", *options, LU,
                      "--n", "64", "--block", "8", "--json")
    (line,) = json_lines(answer.stdout)
    return line["seconds"]


class Handler(unittest.TestCase):
    def refused(self, command, options, *texts):
        """Expect: exit code 2, nothing on the standard output, the texts on the error output."""
        program = () if command[0] == "bench" else (PAGES,)
        answer = fairlead(*command, "-n", "4", *options, *program)
        self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
        self.assertEqual(answer.stdout, "")
        for text in texts:
            self.assertIn(text, answer.stderr)

    def test_where_nothing_is_interrupted(self):
        for command in COMMANDS:
            self.refused(command, ("--on", "shm", "--handler", "same"),
                         "--handler works on modelled platforms only", "not on shm")
            self.refused(command, (*INFINIBAND, "--handler", "third"), "--handler", "third")
        for platform, kind in (("myrinet-p3", "lanai"), ("generic-hca", "rdma without")):
            self.refused(("run",), ("--on", platform, "--handler", "other"), platform, kind,
                         "infiniband-pcix")

    def test_a_processor_beside_each_rank(self):
        self.refused(("run",), (*INFINIBAND, "--ranks-per-node", "2", "--handler", "other"),
                     "has 2 processors", "2 ranks would need 4", "--handler same",
                     "host.processors=4")

    def test_interrupts_are_asyncs(self):
        dearer = ("--set", "host.interrupt_us=15")
        # Expect: each page that a home sends costs it one interrupt more, 5 us; NEWGENDSM asks
        # nobody's processor for a page.
        more = page_us("async", *dearer) - page_us("async")
        self.assertGreater(more, 4.5)
        self.assertLess(more, 5.5)
        self.assertEqual(page_us("newgen", *dearer), page_us("newgen"))
        # Expect: a fault and a change of protection is in each.
        for protocol in ("async", "newgen"):
            free = page_us(protocol, "--set", "host.page_fault_us=0", "--set",
                           "host.protection_us=0")
            self.assertGreater(page_us(protocol) - free, 3.9)

    def test_the_rank_computes_on_beside_it(self):
        other = lu_seconds("--handler", "other")
        # Expect: what the platform does by itself, and a name for host.handler.
        self.assertAlmostEqual(other, lu_seconds(), delta=1e-9)
        same = lu_seconds("--handler", "same")
        self.assertAlmostEqual(same, lu_seconds("--set", "host.handler=1"), delta=1e-9)
        self.assertGreater(abs(same - other), 1e-6)


if __name__ == "__main__":
    unittest.main()
