"""Ranks that Fairlead did not start: Open MPI's mpirun, MPICH's hydra and Slurm's srun start a
program that was compiled with Fairlead's MPI. Results, exit codes, failures, and nothing left.

Run: launchers_test.py --rank PROGRAM [SUITE...]. Exit 77: a launcher is not installed.
"""
import argparse
import contextlib
import ctypes.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]
import node_namespaces  # noqa: E402
import slurm_cluster  # noqa: E402
from deadlines import Deadlines  # noqa: E402
from job_processes import MARK, Exchange, command_line, members, text_of, wait_for  # noqa: E402

RANK = ""
ENDS_WITHIN_S = 3
OFI = ctypes.util.find_library("fabric")
# A sanitizer reports at exit what libpmix and the launchers' plugins never free.
QUIET = {"ASAN_OPTIONS": "detect_leaks=0"}

def fairlead_sockets():
    return [line for line in Path("/proc/net/unix").read_text().splitlines()
            if "@fairlead/" in line]

def fairlead_variables(settings):
    return {f"FAIRLEAD_{name}": value for name, value in (settings or {}).items()}

class Launched(Exchange, Deadlines, unittest.TestCase):
    """Jobs of one launcher; the subclasses say how it is called."""

    LAUNCHER = ""

    def setUp(self):
        if shutil.which(self.LAUNCHER) is None:
            self.skipTest(f"{self.LAUNCHER} is not installed (scripts/install-deps --bench)")

    def command(self, ranks, *arguments):
        raise NotImplementedError

    def environment(self):
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("PMI", "OMPI_", "FAIRLEAD_"))}
        return {**clean, **QUIET}

    def run_ranks(self, ranks, *arguments, timeout=60, more=(), settings=None):
        """(exit code, everything printed); nothing of the job is left, or the test fails.
        `settings`: FAIRLEAD_* by their names' ends."""
        mark = f"{MARK}={uuid.uuid4()}"
        before = set(os.listdir("/dev/shm"))
        name, value = mark.split("=")
        done = subprocess.run([*self.command(ranks, *more), RANK, *arguments],
                              env={**self.environment(), **fairlead_variables(settings),
                                   name: value}, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertTrue(wait_for(lambda: not members(mark), 5), f"left: {members(mark)}")
        left = [f for f in set(os.listdir("/dev/shm")) - before if "fairlead" in f]
        self.assertEqual(left, [])
        return done.returncode, done.stdout

    def assert_said(self, words, run):
        """One of a few runs prints the words: what a launcher has not passed on when it ends a job
        is lost now and then."""
        for _ in range(8):
            text = run()
            if words in text:
                return
        self.fail(f"nobody says '{words}': {text}")

    def started(self, ranks, *arguments, more=(), settings=None):
        return Running([*self.command(ranks, *more), RANK, *arguments],
                       {**self.environment(), **fairlead_variables(settings)})

def kill_all(processes):
    """As far as the launcher has not been faster."""
    for pid in processes:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])

class Running:
    """A job that a test does something to while it runs."""

    def __init__(self, command, environment):
        name, value = MARK, str(uuid.uuid4())
        self.mark = f"{name}={value}"
        # A file, as a pipe would have to be read meanwhile.
        self.output = tempfile.TemporaryFile("w+b")
        self.process = subprocess.Popen(command, env={**environment, name: value},
                                        stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        kill_all(members(self.mark))
        self.output.close()

    def text(self):
        return text_of(self.output)

    def wait_for_text(self, words, seconds=30):
        if not wait_for(lambda: words in self.text(), seconds):
            raise AssertionError(f"nobody says '{words}': {self.text()}")

    def end(self, seconds=30):
        return self.process.wait(seconds)

    def named(self, wanted):
        found = []
        for pid in members(self.mark):
            with contextlib.suppress(OSError):
                if wanted(pid, Path(f"/proc/{pid}/comm").read_text().strip()):
                    found.append(pid)
        return sorted(found)

    def engines(self):
        return self.named(lambda _, name: name.startswith("fairlead-ni-"))

    def ranks(self):
        """In the order they were started; the first is rank 0."""
        return self.named(lambda pid, name: name == Path(RANK).name[:15]
                          and command_line(pid)[:1] == [RANK])

class Launcher:
    """What every launcher must do."""

    # Its ranks end when it is killed.
    LAUNCHER_TAKES_RANKS_ALONG = True

    def test_ranks_find_each_other(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                code, text = self.run_ranks(ranks)
                self.assertEqual(code, 0, text)
                self.check_exchange(ranks, text)

    def test_32_ranks(self):
        code, text = self.run_ranks(32)
        self.assertEqual(code, 0, text)
        self.check_exchange(32, text)

    def test_nothing_is_said_of_an_orderly_end(self):
        for what in ("fork", "quick", "handler"):
            with self.subTest(what=what):
                code, text = self.run_ranks(4, what)
                self.assertEqual(code, 0, text)
                self.assertNotIn("fairlead:", text)

    def test_the_exit_code_of_a_rank_is_the_jobs(self):
        code, text = self.run_ranks(4, "code")
        self.assertEqual(code, 5, text)

    def test_abort_ends_the_job_with_its_code(self):
        def ends():
            begin = time.monotonic()
            code, text = self.run_ranks(4, "abort")
            # Expect: the code, and soon
            self.assertIn(code, self.abort_codes(), text)
            self.check_in_time(begin, ENDS_WITHIN_S)
            return text

        self.assert_said("rank 3 ended the job: MPI_Abort with code 42 on rank 3", ends)

    def abort_codes(self):
        return (42,)

    def test_a_killed_rank_ends_the_job(self):
        begin = time.monotonic()
        code, text = self.run_ranks(4, "kill")
        self.assertNotEqual(code, 0, text)
        self.check_in_time(begin, ENDS_WITHIN_S)

    def test_a_rank_that_leaves_without_finalize_ends_the_job(self):
        def ends():
            begin = time.monotonic()
            code, text = self.run_ranks(4, "leave")
            # Expect: no success, though the program's exit code was 0
            self.assertNotEqual(code, 0, text)
            self.check_in_time(begin, ENDS_WITHIN_S)
            return text

        self.assert_said("rank 3 ended the job: its program exited with code 0 without "
                         "MPI_Finalize", ends)

    def test_strangers_at_the_leaders_socket_do_no_harm(self):
        """While jobs start, whoever sees their sockets calls: silent, with garbage, and goes."""
        seen = set()
        stop = threading.Event()

        def call_everybody():
            kept = []
            while not stop.is_set():
                for line in fairlead_sockets():
                    name = line.split("@", 1)[1]
                    for message in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(168)):
                        caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                        caller.settimeout(0.1)
                        try:
                            caller.connect("\0" + name)
                            if message:
                                caller.send(message)
                            seen.add(name)
                            kept.append(caller)
                        except OSError:
                            caller.close()
                while len(kept) > 200:
                    kept.pop(0).close()
            for caller in kept:
                caller.close()

        stranger = threading.Thread(target=call_everybody)
        stranger.start()
        try:
            for _ in range(40):
                code, text = self.run_ranks(4)
                self.assertEqual(code, 0, text)
                self.check_exchange(4, text)
                if len(seen) >= 3:
                    break
        finally:
            stop.set()
            stranger.join()
        # Expect: some of the sockets were really called
        self.assertGreaterEqual(len(seen), 1)

    def test_faults_are_mended(self):
        plan = "drop=0.05,dup=0.02,reorder=0.02,corrupt=0.02"
        code, text = self.run_ranks(4, settings={"FAULTS": plan, "SEED": "7", "SHOW_PATHS": "1"})
        self.assertEqual(code, 0, text)
        self.check_exchange(4, text)
        self.assertIn("sent again where lost (hrx)", text)

    def test_faults_that_nobody_mends_end_the_job_and_say_how_to_see_it_again(self):
        """Which also shows that the plan and the seed are what was asked for."""
        settings = {"FAULTS": "drop=0.5", "SEED": "9", "LCI": "direct"}

        def fails():
            code, text = self.run_ranks(4, settings=settings)
            self.assertNotEqual(code, 0, text)
            return text

        self.assert_said("to see it again: --faults drop=0.5 --seed 9", fails)

    def test_settings_that_cannot_be_had_are_refused(self):
        for settings, words in (
                ({"AUTH": "rot13"}, "FAIRLEAD_AUTH=rot13: unknown; valid: header, full, encrypt"),
                ({"ENCRYPT": "1"}, "FAIRLEAD_ENCRYPT=1: not under this launcher"),
                ({"TRACE": "t.json"}, "FAIRLEAD_TRACE=t.json: not under this launcher"),
                ({"FAULTS": "drop=2"}, "drop=2"), ({"LCI": "sdma"}, "sdma"),
                ({"LCI": "nirx", "NETWORK": "ofi"}, "NI engines speak udp")):
            with self.subTest(settings=settings):
                def fails(settings=settings):
                    code, text = self.run_ranks(2, settings=settings)
                    self.assertNotEqual(code, 0, text)
                    return text

                self.assert_said(words, fails)

    # --- With an NI engine, which nobody but the ranks started.

    def test_an_engine_serves_the_ranks_and_goes_with_them(self):
        for ranks, what in ((1, "exchange"), (4, "exchange"), (4, "fork"), (4, "quick")):
            with self.subTest(ranks=ranks, what=what):
                code, text = self.run_ranks(ranks, what, settings={"LCI": "nirx",
                                                                   "SHOW_PATHS": "1"})
                self.assertEqual(code, 0, text)
                self.check_exchange(ranks, text)
                self.assertIn("the NI engine of their node: --lci nirx", text)

    def test_an_engine_goes_with_ranks_that_fail(self):
        for what in ("kill", "leave", "abort", "code"):
            with self.subTest(what=what):
                begin = time.monotonic()
                code, text = self.run_ranks(4, what, settings={"LCI": "nirx"})
                self.assertNotEqual(code, 0, text)
                self.check_in_time(begin, ENDS_WITHIN_S, text)

    def test_the_death_of_an_engine_ends_the_job(self):
        with self.started(4, "sleep", settings={"LCI": "nirx"}) as job:
            job.wait_for_text("rank 3 sleeps")
            os.kill(job.engines()[0], signal.SIGKILL)
            self.assertNotEqual(job.end(), 0)
            self.assertIn("the NI engine of node 0 is gone", job.text())

    def test_an_engine_goes_with_its_ranks_whoever_kills_them(self):
        """The rank that started it, all ranks, or the launcher: by SIGKILL."""
        for who in ("first", "ranks", "launcher"):
            with self.subTest(who=who), \
                    self.started(4, "sleep", settings={"LCI": "nirx"}) as job:
                job.wait_for_text("rank 3 sleeps")
                engines, ranks = job.engines(), job.ranks()
                self.assertEqual((len(engines), len(ranks)), (1, 4))
                # Expect: the launcher does not wait for it, and it is nobody's child
                self.assertNotIn(parent(engines[0]), ranks)
                if who == "launcher":
                    job.process.kill()
                else:
                    kill_all(ranks[:1] if who == "first" else ranks)
                self.assertNotEqual(job.end(), 0)
                if who == "launcher" and not self.LAUNCHER_TAKES_RANKS_ALONG:
                    kill_all(ranks)
                self.assertTrue(wait_for(lambda: not members(job.mark), 10),
                                [command_line(pid) for pid in members(job.mark)])

    def test_no_socket_is_left(self):
        self.run_ranks(4)
        self.run_ranks(4, "kill")
        self.assertTrue(wait_for(lambda: not fairlead_sockets(), 5), fairlead_sockets())

class OpenMpi(Launcher, Launched):
    LAUNCHER = "mpirun.openmpi"
    LAUNCHER_TAKES_RANKS_ALONG = False

    def command(self, ranks, *more):
        return [self.LAUNCHER, "--oversubscribe", "--mca", "oob_tcp_if_include", "lo", *more, "-np",
                str(ranks)]

    def environment(self):
        return {**super().environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

class HydraJobs(Launched):
    LAUNCHER = "mpiexec.hydra"

    def command(self, ranks, *more):
        return [self.LAUNCHER, *more, "-n", str(ranks)]

class Hydra(Launcher, HydraJobs):
    """PMI-1."""

    def test_a_script_may_stand_between(self):
        done = subprocess.run([*self.command(3), "sh", "-c", f"'{RANK}'; exit $?"],
                              env=self.environment(), text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check_exchange(3, done.stdout)

class Hosts(HydraJobs):
    """Two hosts by name, both this machine: hydra's map says that ranks do not share a node."""

    def on(self, hosts):
        return ("-launcher", "fork", "-hosts", ",".join(hosts))

    def test_ranks_of_several_nodes_find_each_other(self):
        for ranks, hosts in ((2, 2), (4, 2), (7, 3), (16, 4)):
            with self.subTest(ranks=ranks, hosts=hosts):
                names = [f"h{i}" for i in range(hosts)]
                for what in ("exchange", "handler"):
                    code, text = self.run_ranks(ranks, what, more=self.on(names))
                    self.assertEqual(code, 0, text)
                    self.check_exchange(ranks, text)

    def test_ranks_of_several_nodes_by_libfabric(self):
        if not OFI:
            self.skipTest("no libfabric here")
        more = (*self.on(("h1", "h2")), "-genv", "FAIRLEAD_NETWORK", "ofi", "-genv",
                "FAIRLEAD_PROVIDER", "tcp", "-genv", "FAIRLEAD_SHOW_PATHS", "1")
        code, text = self.run_ranks(4, more=more)
        self.assertEqual(code, 0, text)
        self.check_exchange(4, text)
        self.assertRegex(text, r"ofi, provider tcp.*: --provider.*: other nodes")

    def test_a_network_that_is_none_is_named(self):
        def fails():
            code, text = self.run_ranks(2, more=(*self.on(("h1", "h2")), "-genv",
                                                 "FAIRLEAD_NETWORK", "token-ring"))
            self.assertNotEqual(code, 0)
            return text

        self.assert_said("FAIRLEAD_NETWORK=token-ring: unknown; valid: udp, ofi", fails)

    def test_a_rank_that_no_launcher_sees_dead_is_found(self):
        """It is stopped, and with it all that its node would say."""
        for more in ({}, {"LCI": "nirx"}):
            with self.subTest(more=more):
                begin = time.monotonic()
                with self.started(2, "stop", more=self.on(("h1", "h2")),
                                  settings={"KEEPALIVE": "2", **more}) as job:
                    job.wait_for_text("(rank 1: nothing was heard of its node for 2 s)", 20)
                    took = time.monotonic() - begin
                    # Expect: not before the silence that was asked for, and soon after it
                    self.assertGreater(took, 1.5)
                    self.assertLess(took, 6)
                    self.assertIn("fairlead: rank 0 ended the job: ", job.text())

    def test_nobody_is_found_dead_where_ranks_only_are_slow(self):
        code, text = self.run_ranks(4, "slow", more=self.on(("h1", "h2")),
                                    settings={"KEEPALIVE": "1"})
        self.assertEqual(code, 0, text)
        self.assertNotIn("fairlead:", text)

    def test_engines_of_several_nodes(self):
        """Even and uneven nodes; and ranks dealt out one by one, as mpirun --map-by node does."""
        for ranks, hosts in ((2, "h1:1 h2:1"), (4, "h1:2 h2:2"), (9, "h1:3 h2:3 h3:3"),
                             (5, "h1:1 h2:4"), (6, "h1:3 h2:1 h3:2"), (5, "h1 h2"),
                             (5, "h1:1 h2:2 h1:1")):
            for more in ({}, {"FAULTS": "drop=0.02,dup=0.01,reorder=0.01"}, {"AUTH": "encrypt"}):
                with self.subTest(ranks=ranks, hosts=hosts, more=more):
                    code, text = self.run_ranks(ranks, more=self.on(hosts.split()),
                                                settings={"LCI": "nirx", **more})
                    self.assertEqual(code, 0, text)
                    self.check_exchange(ranks, text)

    def test_the_death_of_one_engine_ends_every_node(self):
        with self.started(4, "sleep", more=self.on(("h1:2", "h2:2")),
                          settings={"LCI": "nirx"}) as job:
            job.wait_for_text("rank 3 sleeps")
            engines = job.engines()
            self.assertEqual(len(engines), 2)
            os.kill(engines[0], signal.SIGKILL)
            self.assertNotEqual(job.end(), 0)
            self.assertRegex(job.text(), "the NI engine of node [01] is gone|a rank of the job was")
            self.assertTrue(wait_for(lambda: not members(job.mark), 10), members(job.mark))

    def test_settings_of_ranks_that_differ_are_refused(self):
        for more in (("-n", "1"), (*self.on(("h1", "h2")), "-n", "1")):
            with self.subTest(more=more):
                def fails(more=more):
                    done = subprocess.run(
                        [self.LAUNCHER, *more, RANK, ":", "-n", "1", "-env", "FAIRLEAD_AUTH",
                         "full", RANK], env=self.environment(), text=True, timeout=60,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                    self.assertNotEqual(done.returncode, 0)
                    return done.stdout

                self.assert_said("give all ranks the same", fails)

    def test_abort_ends_every_node(self):
        begin = time.monotonic()
        code, text = self.run_ranks(4, "abort", more=self.on(("h1", "h2")))
        # Expect: not a success, and nobody waits for who is gone
        self.assertNotEqual(code, 0, text)
        self.check_in_time(begin, ENDS_WITHIN_S)

    def test_an_address_that_is_none_of_this_host_is_named(self):
        def fails():
            code, text = self.run_ranks(2, more=(*self.on(("h1", "h2")), "-genv",
                                                 "FAIRLEAD_ADDRESS", "192.0.2.1"))
            self.assertNotEqual(code, 0)
            return text

        self.assert_said("no interface of this host has 192.0.2.1", fails)

class Nodes(HydraJobs):
    """Two nodes with a network between them: namespaces of this machine."""

    @classmethod
    def setUpClass(cls):
        reason = node_namespaces.why_not()
        if not reason:
            try:
                cls.nodes = node_namespaces.Nodes(2).__enter__()
                cls.addClassCleanup(cls.nodes.__exit__)
            except RuntimeError as error:
                reason = str(error)
        if reason:
            raise unittest.SkipTest(reason)

    def test_ranks_find_each_other_over_the_network(self):
        for ranks in (2, 4, 6):
            with self.subTest(ranks=ranks):
                before = [self.nodes.bytes_between(node) for node in (0, 1)]
                code, text = self.run_ranks(ranks, more=self.nodes.hydra_options())
                self.assertEqual(code, 0, text)
                self.check_exchange(ranks, text)
                # Expect: what the program exchanges has crossed both links
                for node in (0, 1):
                    self.assertGreater(self.nodes.bytes_between(node) - before[node], 1 << 20)

    def test_data_is_sealed_as_asked(self):
        for how in ("full", "encrypt"):
            with self.subTest(how=how):
                code, text = self.run_ranks(4, more=self.nodes.hydra_options(),
                                            settings={"AUTH": how, "SHOW_PATHS": "1"})
                self.assertEqual(code, 0, text)
                self.check_exchange(4, text)
                self.assertIn(f"sealed ({how})", text)

    def test_a_node_that_is_cut_off_is_found(self):
        for more in ({}, {"LCI": "nirx"}):
            with self.subTest(more=more), \
                    self.started(2, "sleep", more=self.nodes.hydra_options(),
                                 settings={"KEEPALIVE": "2", **more}) as job:
                job.wait_for_text("rank 1 sleeps")
                self.nodes.set_links(1, "down")
                begin = time.monotonic()
                try:
                    job.wait_for_text("(rank 1: nothing was heard of its node for 2 s)", 20)
                    self.check_in_time(begin, 3)
                finally:
                    self.nodes.set_links(1, "up")

class Slurm(Launcher, Launched):
    """srun with both protocols that Debian's Slurm has, on a cluster of one node of our own."""

    LAUNCHER = "srun"
    PROTOCOL = "pmix"

    @classmethod
    def setUpClass(cls):
        reason = slurm_cluster.why_not()
        if reason:
            raise unittest.SkipTest(reason)
        cls.cluster = slurm_cluster.Cluster(32)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def command(self, ranks, *more):
        return ["srun", f"--mpi={self.PROTOCOL}", *more, "-n", str(ranks)]

    def environment(self):
        return {**super().environment(), **self.cluster.settings()}

class SlurmPmi1(Slurm):
    PROTOCOL = "pmi2"

    def abort_codes(self):
        # srun ends the ranks by a signal and says so, whatever code PMI-1 asked for.
        return (42, 137)

class Environment(unittest.TestCase):
    """What the environment says and is not so."""

    def run_rank(self, **more):
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("PMI", "OMPI_", "FAIRLEAD_"))}
        done = subprocess.run([RANK], env={**clean, **QUIET, **more}, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def test_alone_it_is_a_job_of_one(self):
        code, text = self.run_rank()
        self.assertEqual((code, text), (0, "rank 0 of 1: sum 0, 0 wrong\n"))

    def test_a_socket_that_is_not_open_is_named(self):
        code, text = self.run_rank(PMI_FD="977", PMI_RANK="1", PMI_SIZE="4")
        self.assertNotEqual(code, 0)
        self.assertIn("PMI_FD=977", text)
        self.assertIn("rank 1", text)

    def test_a_server_that_is_not_there_is_named(self):
        code, text = self.run_rank(PMIX_RANK="0", PMIX_NAMESPACE="nobody")
        self.assertNotEqual(code, 0)
        self.assertIn("PMIX_RANK", text)

    def test_half_a_place_is_named(self):
        for more in ({"PMI_FD": "0"}, {"PMI_FD": "x", "PMI_RANK": "0", "PMI_SIZE": "1"},
                     {"PMI_FD": "0", "PMI_RANK": "4", "PMI_SIZE": "4"}):
            code, text = self.run_rank(**more)
            self.assertNotEqual(code, 0, text)
            self.assertIn("PMI_SIZE", text)

    def test_a_launcher_that_wants_to_be_called_is_named(self):
        code, text = self.run_rank(PMI_PORT="localhost:1", PMI_ID="0")
        self.assertNotEqual(code, 0)
        self.assertIn("PMI_PORT", text)

def main():
    global RANK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", required=True, help="the program launchers_rank")
    parser.add_argument("suites", nargs="*")
    arguments = parser.parse_args()
    RANK = str(Path(arguments.rank).resolve())
    names = [f"{__name__}.{suite}" for suite in arguments.suites]
    if "Slurm" in arguments.suites:
        names.append(f"{__name__}.SlurmPmi1")
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped and len(result.skipped) >= result.testsRun else 0

if __name__ == "__main__":
    sys.exit(main())
