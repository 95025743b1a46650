"""--background: traffic of another job beside a modelled one."""
import unittest

from command import BIN, fairlead, json_lines

QSNET = ("--on", "qsnet-es40")
ELANBENCH = str(BIN / "elanbench")
COMMANDS = (("run",), ("compare",), ("bench", "rate"))


def barrier_us(*options):
    """The mean time of a barrier of 16 nodes; times are virtual, so that runs are equal."""
    answer = fairlead("run", "-n", "16", *QSNET, *options, ELANBENCH, "--test", "gsync",
                      "--rounds", "100", "--json")
    (line,) = json_lines(answer.stdout)
    return line["us"]


class Background(unittest.TestCase):
    def refused(self, command, options, *texts):
        """Expect: exit code 2, nothing on the standard output, the texts on the error output."""
        program = () if command[0] == "bench" else (ELANBENCH,)
        answer = fairlead(*command, *options, *program)
        self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
        self.assertEqual(answer.stdout, "")
        for text in texts:
            self.assertIn(text, answer.stderr)

    def test_it_takes_its_share_of_the_network(self):
        quiet = barrier_us()
        uniform = barrier_us("--background", "uniform")
        complement = barrier_us("--background", "complement")
        # Expect: slower, and most where messages meet (Quadrics paper, section 6.2.1).
        self.assertGreater(complement, 2 * quiet)
        self.assertGreater(uniform, complement)
        # Expect: who asks for less of the link takes less.
        tenth = barrier_us("--background", "uniform,load=0.1")
        third = barrier_us("--background", "uniform,load=0.3")
        self.assertLess(quiet, tenth)
        self.assertLess(tenth, third)
        self.assertLess(third, uniform)

    def test_it_is_numbers_of_the_platform(self):
        given = barrier_us("--background", "complement,size=2K,memory=host,load=0.5")
        numbers = ("background.pattern=1", "background.bytes=2048", "background.main_memory=1",
                   "background.load=0.5")
        # Expect: the same run to the last bit.
        self.assertEqual(given, barrier_us(*(w for n in numbers for w in ("--set", n))))
        # Expect: what --set gives counts more, and results are marked.
        answer = fairlead("run", "-n", "4", *QSNET, "--background", "uniform", "--set",
                          "background.seed=7", ELANBENCH, "--rounds", "5")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("platform changed: background.pattern 2", answer.stderr)
        self.assertIn("background.seed 7", answer.stderr)

    def test_every_command_has_it(self):
        (quiet,) = json_lines(fairlead("bench", "latency", "-n", "4", *QSNET, "--sizes", "2K",
                                       "--json").stdout)
        (loaded,) = json_lines(fairlead("bench", "latency", "-n", "4", *QSNET, "--sizes", "2K",
                                        "--background", "uniform", "--json").stdout)
        self.assertGreater(loaded["one_way_us"], quiet["one_way_us"])
        self.assertIn("background.pattern 2", loaded["platform_changes"])
        times = {}
        for name, options in (("quiet", ()), ("loaded", ("--background", "uniform"))):
            answer = fairlead("compare", "-n", "4", *QSNET, "--lci", "elan,elan-host", *options,
                              "--no-what-if", "--json", ELANBENCH, "--rounds", "20")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            times[name] = {line["lci"]: line["seconds"] for line in json_lines(answer.stdout)}
        # Expect: each row slower.
        self.assertEqual(set(times["quiet"]), {"elan", "elan-host"})
        for lci, quiet in times["quiet"].items():
            self.assertGreater(times["loaded"][lci], quiet, lci)

    def test_what_it_does_not_know(self):
        for command in COMMANDS:
            for text, texts in (("ring", ("'ring'", "complement, uniform")),
                                ("uniform,colour=2", ("'colour=2'", "size=BYTES", "load=SHARE")),
                                ("uniform,", ("''", "memory=ni|host")),
                                ("uniform,size=0", ("--background size 0", "from 1 to")),
                                ("uniform,size", ("--background size", "must be bytes")),
                                ("uniform,memory=disk", ("'memory=disk'", "memory=ni")),
                                ("uniform,load=0", ("--background load 0", "0.01 to 1")),
                                ("uniform,load=1.5", ("--background load 1.5", "0.01 to 1")),
                                ("uniform,load=nan", ("--background load nan",))):
                self.refused(command, (*QSNET, "--background", text), *texts)

    def test_where_there_is_none(self):
        for command in COMMANDS:
            for place, text in (("shm", "not on shm"), ("myrinet-p3", "of kind lanai")):
                self.refused(command, ("--on", place, "--background", "uniform"),
                             "--background", text, "qsnet-es40")

    def test_interfaces_without_memory_send_from_the_hosts(self):
        def put_us(place, *options):
            answer = fairlead("bench", "latency", "-n", "4", "--on", place, *options, "--sizes",
                              "4K", "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            (line,) = json_lines(answer.stdout)
            return line["one_way_us"]

        for place in ("generic-hca", "infiniband-pcie", "infiniband-ndr"):
            quiet = put_us(place)
            uniform = put_us(place, "--background", "uniform")
            # Expect: slower, who asks for less takes less, and runs repeat.
            self.assertGreater(uniform, 1.05 * quiet, place)
            self.assertGreater(uniform, put_us(place, "--background", "uniform,load=0.1"), place)
            self.assertGreater(put_us(place, "--background", "complement"), 1.05 * quiet, place)
            self.assertEqual(uniform, put_us(place, "--background", "uniform"), place)
        self.refused(("run",), ("--on", "generic-hca", "--background", "uniform,memory=ni"),
                     "background.main_memory")
        self.refused(("bench", "rate"), ("--on", "generic-hca", "-n", "6", "--background",
                                         "complement"), "power of two")
        answer = fairlead("run", "-n", "4", "--on", "generic-hca", "--background", "uniform",
                          "--faults", "drop=0.1", ELANBENCH)
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("give one of the two", answer.stderr)

    def test_complement_wants_a_power_of_two(self):
        for command in (("run",), ("bench", "rate")):
            for nodes, following in (("6", "8"), ("12", "16")):
                # Expect: the number of nodes, and the next that would do.
                self.refused(command, ("-n", nodes, *QSNET, "--background", "complement"),
                             "power of two", f"the job has {nodes}", f"the next is {following}")
        # Expect: nodes count, not ranks; and uniform traffic is of any number.
        for options in (("-n", "6", "--ranks-per-node", "3", "--background", "complement"),
                        ("-n", "6", "--background", "uniform")):
            answer = fairlead("run", *options, *QSNET, ELANBENCH, "--rounds", "2")
            self.assertEqual(answer.returncode, 0, answer.stderr)
        answer = fairlead("compare", "-n", "6", *QSNET, "--background", "complement", ELANBENCH)
        # Expect: a row with its reason.
        self.assertEqual(answer.returncode, 1)
        self.assertIn("power of two", answer.stdout)


if __name__ == "__main__":
    unittest.main()
