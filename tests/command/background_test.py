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


def message_us(place, *options):
    """One way of 4 KB between two of four nodes, or more options."""
    answer = fairlead("bench", "latency", "-n", "4", "--on", place, *options, "--sizes", "4K",
                      "--json")
    if answer.returncode != 0:
        raise AssertionError(answer.stderr)
    (line,) = json_lines(answer.stdout)
    return line["one_way_us"]


class Background(unittest.TestCase):
    def slows(self, place, *options, least=1.05):
        """Expect: messages are slower, who asks for less takes less, and runs repeat."""
        quiet = message_us(place, *options)
        uniform = message_us(place, *options, "--background", "uniform")
        self.assertGreater(uniform, least * quiet, (place, options))
        self.assertGreater(
            uniform, message_us(place, *options, "--background", "uniform,load=0.1"), place)
        self.assertGreater(message_us(place, *options, "--background", "complement"),
                           least * quiet, (place, options))
        self.assertEqual(uniform, message_us(place, *options, "--background", "uniform"), place)

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
            self.refused(command, ("--on", "shm", "--background", "uniform"),
                         "--background", "not on shm", "qsnet-es40")

    def test_interfaces_without_memory_send_from_the_hosts(self):
        for place in ("generic-hca", "infiniband-pcie", "infiniband-ndr"):
            self.slows(place)
        self.refused(("run",), ("--on", "generic-hca", "--background", "uniform,memory=ni"),
                     "background.main_memory")
        self.refused(("bench", "rate"), ("--on", "generic-hca", "-n", "6", "--background",
                                         "complement"), "power of two")
        answer = fairlead("run", "-n", "4", "--on", "generic-hca", "--background", "uniform",
                          "--faults", "drop=0.1", ELANBENCH)
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("give one of the two", answer.stderr)

    def test_firmware_sends_another_jobs_packets_in_turn(self):
        for place, lci in (("myrinet-p3", "pio"), ("myrinet-p3", "nirx"), ("myrinet-ppro", "hrx"),
                           ("millennium", "via"), ("now", "pio")):
            self.slows(place, "--lci", lci)
        # Expect: beside ranks that share a node, and ranks that are processes.
        for options in (("--ranks-per-node", "2"), ("--body", "process")):
            answer = fairlead("run", "-n", "4", "--on", "myrinet-p3", *options, "--background",
                              "uniform,size=6K", ELANBENCH, "--test", "gsync", "--rounds", "20")
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.refused(("run",), ("-n", "6", "--on", "now", "--background", "complement"),
                     "power of two")
        self.refused(("run",), ("-n", "4", "--on", "myrinet-p3", "--lci", "nirx", "--background",
                                "uniform", "--faults", "drop=0.1"), "give one of the two")

    def test_processors_store_another_jobs_lines(self):
        self.slows("firelink", least=1.02)
        # Expect: felt at all; a processor stores an eighth of what the link carries.
        self.slows("cxl-pool", least=1)
        answer = fairlead("run", "-n", "4", "--on", "firelink", "--ranks-per-node", "2", "--body",
                          "process", "--background", "uniform,size=100", ELANBENCH, "--test",
                          "gsync", "--rounds", "20")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        # Expect: a link that dies takes what is on it, and nothing hangs.
        answer = fairlead("run", "-n", "2", "--on", "firelink", "--background", "uniform",
                          "--faults", "down=0-link0@20us+40us", ELANBENCH, "--test", "gsync",
                          "--rounds", "200")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.refused(("bench", "rate"), ("-n", "3", "--on", "cxl-pool", "--background",
                                         "complement"), "power of two")

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
