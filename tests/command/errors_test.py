"""What cannot be used as asked is refused with the list of what can."""
import ctypes.util
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, fairlead

TRUE = "/bin/true"


class Errors(unittest.TestCase):
    def refused(self, arguments, *texts):
        """Expect: exit code 2, nothing on the standard output, the texts on the error output."""
        answer = fairlead(*arguments)
        self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
        self.assertEqual(answer.stdout, "")
        for text in texts:
            self.assertIn(text, answer.stderr)

    def test_commands(self):
        known = "run, compare, sweep, bench, reproduce, platforms, info, trace, ps, report"
        self.refused([], "needs a command", known)
        self.refused(["fly"], "no command fly", known)
        self.refused(["bench"], "needs a command",
                     "logp, latency, overhead, rate, throughput, multicast, alltoall, fetchadd, "
                     "remote, rdma, barrier")
        self.refused(["bench", "speed"], "no command speed", "logp, latency, overhead")

    def test_options(self):
        self.refused(["run", "--fast", TRUE], "no option --fast", "--label", "--timeout")
        self.refused(["bench", "rate", "--fast"], "no option --fast", "--window")
        self.refused(["compare", "--fast", TRUE], "--fast", "--lci")
        self.refused(["run", "-n", "0", TRUE], "--ranks")
        self.refused(["run", "--body", "ghost", TRUE], "process", "fiber")
        self.refused(["bench", "latency", "--sizes", "8,many"], "--sizes")
        self.refused(["bench", "rate", "--partner", "7", "-n", "4"], "--partner 7", "1..3")
        self.refused(["bench", "multicast", "--tree", "round"], "--tree", "binary", "binomial")
        self.refused(["bench", "multicast", "--tree", "binary"], "--tree binary", "shm")
        self.refused(["bench", "multicast", "--on", "myrinet-p3", "--lci", "pio-binary", "--tree",
                      "binomial"], "pio-binary-binomial")
        self.refused(["bench", "throughput", "--put", "--copy"], "--put")
        self.refused(["bench", "latency", "--fill", "some"], "--fill", "auto")
        self.refused(["run"], "needs a program")

    def test_numbers(self):
        """Expect: no text is a number that is none, and the range is said in short."""
        for option, good, more in (("--timeout", "0.001 to 8.64e+06", ()),
                                   ("--seed", "0 to 2^64 - 1", ()),
                                   ("--ranks", "1 to 2^20", ()),
                                   ("--stack-kib", "16 to 2^20", ()),
                                   ("--rank-memory", "1 to 2^19", ()),
                                   ("--mtu", "640 to 65535", ("--on", "udp")),
                                   ("--ranks-per-node", "1 to 2^20", ("--on", "udp"))):
            for text in ("nan", "inf", "-1", "0x10", "1e10", "x", "4x", " 4", "+4",
                         "99999999999999999999"):
                answer = fairlead("run", *more, option, text, TRUE)
                self.assertEqual(answer.returncode, 2, (option, text, answer.stderr))
                self.assertIn(f"{option} {text}: must be a", answer.stderr)
                self.assertIn(f"from {good}", answer.stderr)
                self.assertLess(len(answer.stderr), 200, answer.stderr)
        self.refused(["bench", "latency", "--sizes", "8,-1"], "--sizes -1: must be bytes")
        self.refused(["bench", "latency", "--sizes", "8,2G"], "--sizes 2G", "0 to 2^30")
        self.refused(["bench", "rate", "--window", "0"], "--window 0", "1 to 2^20")
        self.refused(["bench", "rate", "--repetitions", "1e3"], "--repetitions 1e3")
        self.refused(["bench", "rate", "--partner", "-1"], "--partner -1")
        self.refused(["reproduce", "--jobs", "0"], "--jobs 0", "1 to 1024")
        self.refused(["run", "--bind", "0-", TRUE], "--bind 0-")
        self.refused(["run", "--on", "myrinet-p3", "--faster", "ni=nan", TRUE], "ni=nan")
        self.refused(["run", "--on", "myrinet-p3", "--set", "ni.receive_buffers=inf", TRUE],
                     "must be a number")
        self.refused(["run", "--hosts", "a:0", TRUE], "a:0")

    def test_what_a_fault_plan_names_must_be_there(self):
        for on in ("shm", "udp", "loop", "myrinet-p3"):
            self.refused(["run", "-n", "2", "--on", on, "--faults", "kill=9@1ms", str(BIN / "sor")],
                         "kill=9", "ranks 0 to 1")
        self.refused(["run", "--faults", "drop=nan", TRUE], "drop=nan")
        self.refused(["run", "--faults", "delay=1e9s:0.5", TRUE], "delay=1e9s:0.5")

    def test_one_address_twice(self):
        self.refused(["run", "--on", "udp", "--address", "127.0.0.1,127.0.0.1", TRUE],
                     "127.0.0.1", "twice")

    def test_empty_values(self):
        for option in ("--hosts", "--nodes", "--hostfile", "--rsh", "--on", "--lci", "--faults",
                       "--seed", "--timeout", "--bind", "--address", "--trace", "--wdir", "--set",
                       "--single-copy", "--provider", "-x"):
            self.refused(["run", option, "", TRUE], f"{option}: its value is empty")
            if option.startswith("--"):
                self.refused(["run", f"{option}=", TRUE], f"{option}: its value is empty")
        self.refused(["run", "--stats=", TRUE], "--stats: its value is empty")
        self.refused(["bench", "latency", "--sizes", ""], "--sizes: its value is empty")
        # Expect: a program's own are its own
        answer = fairlead("run", "-n", "1", "/bin/echo", "--hosts=", "-np", "")
        self.assertEqual((answer.returncode, answer.stdout), (0, "--hosts= -np \n"), answer.stderr)

    def test_without_libcrypto(self):
        """Only who asks for what it does needs it."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / ctypes.util.find_library("crypto")).touch()
            job = ["bench", "latency", "--on", "udp", "--sizes", "8", "--auth"]
            answer = fairlead(*job, "header", LD_LIBRARY_PATH=folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            answer = fairlead(*job, "full", LD_LIBRARY_PATH=folder)
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn("udp: OpenSSL's libcrypto cannot be loaded", answer.stderr)
            self.assertRegex(answer.stderr, "file too short.*install libssl.*--auth header")
            answer = fairlead("info", LD_LIBRARY_PATH=folder)
            self.assertRegex(answer.stdout, "libcrypto +missing +OpenSSL's libcrypto cannot")

    def test_places(self):
        self.refused(["run", "--on", "moon", TRUE], "moon", "shm, udp, ofi, loop", "myrinet-p3",
                     "myrinet-ppro")
        self.refused(["bench", "logp", "--on", "moon"], "moon", "myrinet-p3")
        self.refused(["bench", "logp", "--on", "loop"], "shm")
        self.refused(["run", "--on", "loop", "--show-paths", TRUE], "--show-paths",
                     "shm, udp or ofi")
        self.refused(["run", "--on", "loop", "--single-copy", "1M", TRUE], "--single-copy",
                     "shm, udp or ofi")
        self.refused(["run", "--single-copy", "often", TRUE], "often", "auto, never")
        self.refused(["run", "--mpi-device", "pandas", TRUE], "pandas", "direct, panda")
        self.refused(["run", "--splitc", "amiva", TRUE], "amiva", "there are: direct")
        self.refused(["compare", "--on", "shm", "--mpi-bcast", "ring", TRUE], "ring",
                     "auto, multicast, binomial, binary")
        self.refused(["run", "--mpi-bcast", "multicast", TRUE], "--mpi-device panda")
        self.refused(["run", "--on", "udp", "--provider", "tcp", TRUE], "--provider", "--on ofi")
        self.refused(["run", "--on", "ofi", "--auth", "full", TRUE], "--auth", "--on udp")
        self.refused(["run", "--auth", "full", TRUE], "--auth", "--on udp")
        self.refused(["run", "--on", "myrinet-p3", "--mtu", "1500", TRUE], "--mtu", "--on udp")
        self.refused(["run", "--on", "loop", "--address", "127.0.0.2", TRUE], "--address")
        self.refused(["run", "--on", "udp", "--auth", "none", TRUE], "header, full, encrypt")
        self.refused(["run", "--on", "udp", "--lci", "direct", TRUE], "valid: hrx")

    def test_implementations(self):
        self.refused(["bench", "logp", "--on", "myrinet-p3", "--lci", "magic"], "magic", "sdma",
                     "pio")

    def test_platform_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('topology = "clos"\n[host]\nclock_MHz = -1\n')
            file.flush()
            # Expect: the file and the key.
            self.refused(["bench", "logp", "--on", file.name], file.name)

    def test_platform_changes(self):
        bench = ["bench", "barrier", "-n", "4"]
        self.refused(bench + ["--on", "myrinet-p3", "--set", "ni.buffers=3"], "ni.buffers",
                     "ni.receive_buffers")
        self.refused(bench + ["--on", "myrinet-p3", "--topology", "torus"], "fat-tree")
        self.refused(bench + ["--set", "ni.receive_buffers=3"], "--on")
        # Expect: results under another number say so.
        answer = fairlead(*bench, "--on", "myrinet-p3", "--set", "ni.receive_buffers=1024",
                          "--topology", "fat-tree", "--repetitions", "10", "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn('"platform_changes":"ni.receive_buffers 1024 (512 in the file), topology '
                      'fat-tree (clos in the file)"', answer.stdout)

    def test_output_that_cannot_be_written(self):
        for command in (["platforms"], ["bench", "barrier", "-n", "2"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(BIN / "fairlead"), *command], stdout=full, text=True,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn("No space left on device", done.stderr, command)

    def test_np_is_n(self):
        answer = fairlead("run", "-np", "3", "/bin/echo", "here")
        self.assertEqual((answer.returncode, answer.stdout), (0, "here\n" * 3), answer.stderr)
        answer = fairlead("compare", "-np", "2", "--on", "shm", "--json", str(BIN / "sor"),
                          "--rows", "64", "--iterations", "2")
        self.assertIn('"ranks":2', answer.stdout, answer.stderr)

    def test_two_dashes_before_the_program(self):
        answer = fairlead("run", "-n", "2", "--", "/bin/echo", "--", "-n", "9")
        self.assertEqual((answer.returncode, answer.stdout), (0, "-- -n 9\n" * 2), answer.stderr)
        answer = fairlead("compare", "-n", "2", "--on", "shm", "--json", "--", str(BIN / "sor"),
                          "--rows", "64", "--iterations", "2")
        self.assertIn('"ranks":2', answer.stdout, answer.stderr)
        self.refused(["run", "--", "-n", "2", TRUE], "--: a program is to follow, and not -n")
        self.refused(["run", "-n", "2", "--"], "needs a program")

    def test_program(self):
        self.refused(["run", "./no-such-program"], "no-such-program")

    def test_failure_in_comparison_is_a_row(self):
        answer = fairlead("compare", "-n", "2", "--on", "shm,moon", str(BIN / "sor"), "--rows",
                          "64", "--iterations", "2")
        # Expect: figures for the one, the reason for the other, and an exit code that tells.
        self.assertEqual(answer.returncode, 1, answer.stderr)
        rows = {line.split()[0]: line for line in answer.stdout.splitlines() if line}
        self.assertIn("best", rows["shm"])
        self.assertIn("valid", rows["moon"])
        self.assertIn("On moon no run came to its end.", answer.stdout)


if __name__ == "__main__":
    unittest.main()
