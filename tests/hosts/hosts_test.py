"""Jobs of several hosts that `fairlead run` starts itself: over a stand-in for ssh, over ssh, and
in network namespaces. Results, standard streams, failures, and nothing left.

Run: hosts_test.py --fairlead COMMAND --rank PROGRAM [SUITE...]. Exit 77: what it needs is missing.
"""
import argparse
import ctypes.util
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deadlines import Deadlines  # noqa: E402
from job_processes import MARK, Exchange, command_line, members, wait_for  # noqa: E402
from two_rails import TwoRails  # noqa: E402

FAIRLEAD = ""
RANK = ""
# An agent that is silent for so long is lost (fairlead/run/hosts/host_job.h).
SILENCE_S = 5

# $1: the host. Says what a login shell may say, and what ssh would where there is no such host.
SHELL = """#!/bin/sh
host=$1
shift
case $host in
  nowhere) echo "ssh: connect to host nowhere port 22: No route to host" >&2; exit 255;;
  chatty) echo "Welcome to chatty"; echo "Last login: today" ;;
  elsewhere) exec /nowhere/fairlead "$2" ;;
  stranger) echo "hello, I am a shell"; exec sleep 0.2 ;;
  other) printf 'fln1\\377\\0\\001\\0\\020\\0\\0\\0\\0\\0\\0\\0'; exec sleep 1 ;;
esac
exec "$@"
"""


class Jobs(Exchange, Deadlines, unittest.TestCase):
    HOSTS = ("h1:2", "h2:2")
    LOGIN_S = 0  # what it may take to reach a host

    def options(self, hosts):
        raise NotImplementedError

    def setUp(self):
        self.mark = f"{MARK}={uuid.uuid4()}"

    def begin(self, *command, hosts=None, more=(), mark=None, **streams):
        name, value = (mark or self.mark).split("=")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FAIRLEAD_")}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen(
            [FAIRLEAD, "run", *self.options(hosts or self.HOSTS), *more, *command],
            env={**clean, name: value}, **streams)

    def end(self, job, stdin=None, timeout=60, mark=None):
        """(exit code, output, errors); nothing of the job is left, or the test fails."""
        out, errors = job.communicate(stdin, timeout=timeout)
        mark = mark or self.mark
        self.assertTrue(wait_for(lambda: not members(mark), 3),
                        f"left: {[command_line(p) for p in members(mark)]}")
        return job.returncode, out.decode(), errors.decode()

    def job(self, *command, mark=None, **how):
        """A job from its begin to its end; one beside another job has a mark of its own."""
        return self.end(self.begin(*command, mark=mark, **how), mark=mark)

    def agents(self, count):
        """Processes of the agents, without their guardians; waits for so many ranks' worth."""
        def found():
            return [p for p in members(self.mark) if command_line(p)[-1:] == ["node-agent"]
                    and "fairlead-guard" not in Path(f"/proc/{p}/comm").read_text()]
        self.assertTrue(wait_for(lambda: len(found()) >= count, 10))
        return found()

    def engines(self):
        """Processes of the NI engines, by node."""
        names = {p: Path(f"/proc/{p}/comm").read_text().strip() for p in members(self.mark)}
        return sorted((p for p, name in names.items() if name.startswith("fairlead-ni-")),
                      key=lambda p: names[p])


ENGINES = ("--on", "udp", "--lci", "nirx")


class Everywhere:
    """What a job does however its hosts are reached."""

    def test_ranks_find_each_other(self):
        names = [host.split(":")[0] for host in self.HOSTS]
        for counts in ((1, 1), (2, 2), (3, 1), (2, 7)):
            with self.subTest(counts=counts):
                hosts = [f"{name}:{count}" for name, count in zip(names, counts)]
                code, out, errors = self.job(RANK, hosts=hosts)
                self.assertEqual(code, 0, errors)
                self.check_exchange(sum(counts), out)

    def traced(self, *command, more=()):
        """(exit code, errors, events of the trace); nothing else is left."""
        def parts():
            return list(Path(tempfile.gettempdir()).glob("fairlead-trace.parts-*"))
        before = parts()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.json"
            code, _, errors = self.job(*command, more=("--trace", str(path), *more))
            self.assertEqual(os.listdir(folder), ["t.json"])
            self.assertEqual(parts(), before)
            return code, errors, json.loads(path.read_text())

    def test_a_trace_shows_all_hosts_by_one_clock(self):
        code, errors, events = self.traced(RANK)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual({e["pid"] for e in events if e["ph"] == "X"}, {0, 1, 2, 3})
        arrows = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
        crossing = 0
        for name, end in arrows["f"].items():
            begin = arrows["s"][name]
            # The hosts are of one machine: no message comes before it was sent.
            self.assertLess(begin["ts"], end["ts"], (begin, end))
            crossing += begin["pid"] // 2 != end["pid"] // 2
        self.assertGreater(crossing, 0)

    def test_a_failed_job_has_a_trace_too(self):
        code, errors, events = self.traced(
            "sh", "-c", f"[ $FAIRLEAD_RANK = 1 ] && sleep 0.5 && exit 3; exec {RANK}")
        self.assertEqual(code, 3, errors)
        self.assertIn("rank 1", errors)
        self.assertIsInstance(events, list)

    def test_network_only(self):
        code, out, errors = self.job(RANK, more=("--on", "udp", "--auth", "encrypt"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)

    def test_ni_engines(self):
        for counts in ((2, 2), (1, 1), (3, 1), (1, 4)):
            with self.subTest(counts=counts):
                hosts = [f"{h.split(':')[0]}:{count}" for h, count in zip(self.HOSTS, counts)]
                code, out, errors = self.job(RANK, hosts=hosts, more=(*ENGINES, "--show-paths"))
                self.assertEqual(code, 0, errors)
                self.check_exchange(sum(counts), out)
                here = "0" if counts[0] == 1 else f"0-{counts[0] - 1}"
                self.assertIn(f"rank 0 to {here}: the NI engine of their node", errors)
                self.assertIn("sent again where lost (nirx)", errors)

    def test_ni_engines_are_on_udp_unasked(self):
        code, out, errors = self.job(RANK, more=("--lci", "nirx", "--show-paths"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)
        self.assertIn("sent again where lost (nirx)", errors)

    def test_ni_engines_over_a_bad_wire(self):
        code, out, errors = self.job(RANK, more=(*ENGINES, "--faults", "drop=0.02,reorder=0.02"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)

    def test_a_killed_ni_engine_ends_the_job(self):
        job = self.begin("sh", "-c", "echo up; exec sleep 60", more=ENGINES)
        for _ in range(4):
            job.stdout.readline()
        begin = time.monotonic()
        os.kill(self.engines()[1], signal.SIGKILL)
        code, _, errors = self.end(job)
        self.assertEqual(code, 137, errors)
        # Expect: which, how and where, once
        self.assertRegex(errors, r"the NI engine of node 1 \(process \d+\) was ended by SIGKILL")
        self.assertIn(self.HOSTS[1].split(":")[0], errors)
        self.assertEqual(errors.count("fairlead: "), 1, errors)
        self.check_in_time(begin, 3)

    def test_an_ni_engine_outlives_its_ranks(self):
        # Rank 3 goes on after the others.
        job = self.begin("sh", "-c", "[ $FAIRLEAD_RANK = 3 ] && exec sleep 60; echo end",
                         more=ENGINES)
        for _ in range(3):
            job.stdout.readline()
        time.sleep(0.3)
        self.assertEqual(len(self.engines()), 2)
        # Expect: and it is needed to the end
        os.kill(self.engines()[0], signal.SIGKILL)
        code, _, errors = self.end(job)
        self.assertEqual(code, 137, errors)
        self.assertIn("the NI engine of node 0", errors)

    def test_libfabric_between_nodes(self):
        if not ctypes.util.find_library("fabric"):
            self.skipTest("no libfabric here")
        code, out, errors = self.job(RANK, more=("--on", "ofi", "--show-paths"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)
        self.assertIn("rank 0 to 0-1: shared memory", errors)
        self.assertIn("rank 2 to 0-1: ofi, provider ", errors)

    def test_the_ways_are_shown(self):
        code, _, errors = self.job(RANK, more=("--show-paths",))
        self.assertEqual(code, 0, errors)
        self.assertIn("rank 0 to 0-1: shared memory", errors)
        self.assertIn("rank 0 to 2-3: udp from", errors)
        self.assertIn("rank 2 to 0-1: udp from", errors)

    def test_hosts_that_map_one_file_need_no_network(self):
        with tempfile.TemporaryDirectory(prefix="fairlead-hosts-") as folder:
            path = Path(folder) / "memory"
            for counts in ((2, 2), (1, 3)):  # the second job finds what the first one left
                hosts = [f"{h.split(':')[0]}:{count}" for h, count in zip(self.HOSTS, counts)]
                code, out, errors = self.job(RANK, hosts=hosts,
                                             more=("--memory", str(path), "--show-paths"))
                self.assertEqual(code, 0, errors)
                self.check_exchange(4, out)
                self.assertEqual(errors, "rank 0 to 0-3: shared memory: --memory\n")
                # Expect: by hand, where it is not coherent, with a host's own memory beside it
                code, out, errors = self.job(RANK, hosts=hosts, more=("--memory",
                                             f"{path},software", "--show-paths"))
                self.assertEqual(code, 0, errors)
                self.check_exchange(4, out)
                self.assertIn("shared memory: the same node", errors)
                self.assertIn("memory of all hosts, their caches flushed by hand", errors)
                self.assertNotIn("udp", errors)
            job = self.begin("sh", "-c", "echo up; exec sleep 60", more=("--memory", str(path)))
            for _ in range(4):
                job.stdout.readline()
            # Expect: a file is one job's, and nothing is left when a rank dies
            code, _, errors = self.job(RANK, more=("--memory", str(path)),
                                       mark=f"{self.mark}-second")
            self.assertEqual(code, 1, errors)
            self.assertIn(f"--memory {path}: another job uses it", errors)
            job.terminate()
            self.assertEqual(self.end(job)[0], 143)
            code, _, errors = self.job(RANK, "kill", more=("--memory", str(path)))
            self.assertEqual(code, 137, errors)

    def test_standard_streams(self):
        says = 'cat; echo "out $FAIRLEAD_RANK"; echo "err $FAIRLEAD_RANK" >&2'
        job = self.begin("sh", "-c", says, more=("--label",), stdin=subprocess.PIPE)
        code, out, errors = self.end(job, b"one\ntwo\n")
        self.assertEqual(code, 0, errors)
        # Expect: input to rank 0 only, every line with its rank
        self.assertEqual(sorted(out.splitlines()), sorted(
            ["[0] one", "[0] two"] + [f"[{r}] out {r}" for r in range(4)]))
        self.assertEqual(sorted(errors.splitlines()), [f"[{r}] err {r}" for r in range(4)])

    def test_much_input_and_output(self):
        data = os.urandom(5_000_000)
        job = self.begin("cat", stdin=subprocess.PIPE)
        out, errors = job.communicate(data, timeout=60)
        self.assertEqual(job.returncode, 0, errors)
        self.assertTrue(out == data)

    def test_input_that_nobody_reads(self):
        job = self.begin("true", stdin=subprocess.PIPE)
        self.assertEqual(self.end(job, b"x" * 3_000_000)[0], 0)

    def test_exit_codes_and_reasons(self):
        for what, code, words in (("code", 5, "rank 3 (process "),
                                  ("abort", 42, "rank 3 ended the job: MPI_Abort with code 42"),
                                  ("kill", 137, "was ended by SIGKILL"),
                                  ("leave", 1, "exited with code 0 without MPI_Finalize")):
            with self.subTest(what=what):
                begin = time.monotonic()
                got, _, errors = self.job(RANK, what)
                self.assertEqual(got, code, errors)
                self.assertIn(words, errors)
                # Expect: the host is named, and the failure once
                self.assertIn(self.HOSTS[1].split(":")[0], errors)
                self.assertEqual(errors.count("fairlead: "), 1, errors)
                self.check_in_time(begin, 3 + self.LOGIN_S)

    def test_ranks_that_never_join(self):
        for early, late in (("", "sleep 0.5; "), ("sleep 0.5; ", "")):
            with self.subTest(late=late):
                begin = time.monotonic()
                code, _, errors = self.job(
                    "sh", "-c", f"[ $FAIRLEAD_RANK -lt 2 ] || {{ {early} exit 0; }}; "
                                f"{late} exec {RANK}")
                # Expect: the job of the others ends, and those that are not in it are named
                self.assertEqual(code, 1, errors)
                self.assertRegex(errors, "2 of the ranks 2.*3 ended and never joined the others' "
                                         "job")
                self.check_in_time(begin, 0.5 + 1.5 + 2 * self.LOGIN_S)

    def test_a_failure_ends_every_node_within_a_second(self):
        job = self.begin("sh", "-c", "echo up; [ $FAIRLEAD_RANK = 1 ] && sleep 0.5 && exit 3; "
                                     "sleep 60; true")
        for _ in range(4):
            job.stdout.readline()
        begin = time.monotonic()
        code, _, errors = self.end(job)
        self.assertEqual(code, 3, errors)
        self.check_in_time(begin, 0.5 + 1.5)

    def test_timeout(self):
        begin = time.monotonic()
        code, _, errors = self.job("sleep", "60", more=("--timeout", "1"))
        self.assertEqual(code, 124)
        self.assertIn("outlived its --timeout of 1 s", errors)
        self.check_in_time(begin, 3 + self.LOGIN_S)

    def test_signals_reach_every_rank(self):
        job = self.begin("sh", "-c", "trap 'echo caught $FAIRLEAD_RANK; exit 0' USR1; echo ready; "
                                     "while :; do sleep 0.05; done")
        for _ in range(4):
            job.stdout.readline()
        job.send_signal(signal.SIGUSR1)
        code, out, errors = self.end(job)
        self.assertEqual(code, 0, errors)
        self.assertEqual(sorted(out.split()), sorted(["caught"] * 4 + ["0", "1", "2", "3"]))

    def test_nothing_is_left_when_the_command_is_killed(self):
        job = self.begin("sh", "-c", "sleep 60 & sleep 60")
        self.agents(2)
        self.assertTrue(wait_for(lambda: len(members(self.mark)) >= 8, 10))
        job.kill()
        job.communicate()
        self.assertTrue(wait_for(lambda: not members(self.mark), 3),
                        [command_line(p) for p in members(self.mark)])


class Shell(Everywhere, Jobs):
    """Two hosts by name, both this machine, reached by a script in ssh's place."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-hosts-")
        cls.addClassCleanup(folder.cleanup)
        cls.shell = Path(folder.name) / "shell"
        cls.shell.write_text(SHELL)
        cls.shell.chmod(0o755)
        cls.folder = folder.name

    def options(self, hosts):
        return ["--hosts", ",".join(hosts), "--rsh", str(self.shell)]

    def test_a_hostfile(self):
        path = Path(self.folder) / "hosts"
        path.write_text("h1 slots=2 # two\nh2:3\n")
        job = subprocess.run([FAIRLEAD, "run", "-n", "4", "--hostfile", str(path), "--rsh",
                              str(self.shell), "--label", "sh", "-c", "echo $FAIRLEAD_RANKS"],
                             text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             timeout=60, check=False)
        self.assertEqual(sorted(job.stdout.split("\n")), ["", "[0] 4", "[1] 4", "[2] 4", "[3] 4"])

    def test_a_shell_may_talk_first(self):
        code, out, errors = self.job(RANK, hosts=("chatty:1", "h2:1"))
        self.assertEqual((code, errors), (0, ""))
        self.check_exchange(2, out)

    def test_a_host_that_cannot_be_reached_is_named_in_the_shells_words(self):
        for host, words in (("nowhere", "connect to host nowhere port 22: No route to host"),
                            ("elsewhere", "Fairlead must have the same path on every host"),
                            ("stranger", "hello, I am a shell"),
                            ("other", "install the same Fairlead on every host")):
            with self.subTest(host=host):
                code, out, errors = self.job(RANK, hosts=("h1:1", f"{host}:1"))
                self.assertEqual((code, out), (2, ""), errors)
                self.assertIn(f"host {host}", errors)
                self.assertIn(words, errors)

    def test_a_program_that_is_not_there(self):
        code, _, errors = self.job("./nobody")
        self.assertEqual(code, 2)
        self.assertIn("./nobody", errors)

    def test_ni_engines_of_three_uneven_hosts(self):
        code, out, errors = self.job(RANK, hosts=("h1:1", "h2:3", "h3:2"),
                                     more=(*ENGINES, "--show-paths"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(6, out)
        for ranks in ("0 to 0", "1 to 1-3", "4 to 4-5"):
            self.assertIn(f"rank {ranks}: the NI engine of their node", errors)

    def test_the_key_is_on_no_command_line(self):
        job = self.begin("sleep", "60")
        for pid in self.agents(2):
            self.assertEqual(command_line(pid), [FAIRLEAD, "node-agent"])
        job.kill()
        self.end(job)

    def begin_with_victim(self):
        """A job whose ranks run, and one of its agents."""
        job = self.begin("sh", "-c", "echo up; exec sleep 60")
        for _ in range(4):
            job.stdout.readline()
        return job, self.agents(2)[0]

    def test_a_killed_agent_is_a_lost_host(self):
        job, victim = self.begin_with_victim()
        begin = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        code, _, errors = self.end(job)
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"rank (0-1|2-3) lost: host h[12]: its agent ended")
        self.check_in_time(begin, 2)

    def test_a_silent_host_is_lost(self):
        job, victim = self.begin_with_victim()
        begin = time.monotonic()
        os.kill(victim, signal.SIGSTOP)
        out, errors = job.communicate(timeout=30)
        took = time.monotonic() - begin
        # Expect: found by its silence, reported once
        self.assertEqual((job.returncode, out), (1, b""))
        self.assertIn(b"nothing was heard of it for 5 s", errors)
        self.assertEqual(errors.count(b"fairlead: "), 1, errors)
        self.assertTrue(SILENCE_S - 1 < took < SILENCE_S + 3, took)
        # Expect: with its shell, here the same process, its ranks have ended
        self.assertTrue(wait_for(lambda: not members(self.mark), 5))

    def test_a_stopped_command_is_no_dead_host(self):
        job = self.begin("sleep", "9")
        self.agents(2)
        job.send_signal(signal.SIGSTOP)
        time.sleep(SILENCE_S + 1)
        job.send_signal(signal.SIGCONT)
        code, _, errors = self.end(job)
        self.assertEqual((code, errors), (0, ""))

    def test_options_that_do_not_go_together(self):
        for more, words in ((("-n", "5"), "room for 4 ranks and not for 5"),
                            (("--on", "myrinet-p3"), "--on myrinet-p3 has no hosts"),
                            (("--nodes", "a"), "exclude each other"),
                            ((*ENGINES, "--ranks-per-node", "1"), "leave it out"),
                            (("--trace", "/nowhere/t.json"), "cannot write the trace"),
                            (("--address", "203.0.113.1"), "203.0.113.1"),
                            (("--address", "203.0.113.0/24"), "address in 203.0.113.0/24")):
            with self.subTest(more=more):
                code, _, errors = self.job(RANK, more=more)
                self.assertNotEqual(code, 0)
                self.assertIn(words, errors)


class Ssh(Everywhere, Jobs):
    """The same through sshd of this machine, with a key of its own."""

    HOSTS = ("127.0.0.1:2", "127.0.0.2:2")
    LOGIN_S = 5

    @classmethod
    def setUpClass(cls):
        daemon = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin")
        if daemon is None or shutil.which("ssh") is None or os.geteuid() != 0:
            raise unittest.SkipTest("needs root, ssh and sshd (scripts/install-deps --bench)")
        folder = tempfile.TemporaryDirectory(prefix="fairlead-sshd-")
        cls.addClassCleanup(folder.cleanup)
        at = Path(folder.name)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(at / name)],
                           check=True)
        shutil.copy(at / "user.pub", at / "authorized")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.makedirs("/run/sshd", exist_ok=True)
        (at / "config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nListenAddress 127.0.0.2\nHostKey {at}/host\n"
            f"AuthorizedKeysFile {at}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
            f"PermitRootLogin prohibit-password\nAcceptEnv {MARK}\n")
        cls.daemon = subprocess.Popen([daemon, "-D", "-e", "-f", str(at / "config")],
                                      stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop)
        cls.rsh = (f"ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR "
                   f"-o UserKnownHostsFile={at}/known -o SendEnv={MARK} -i {at}/user -p {port} "
                   f"-l {getpass.getuser()}")
        def up():
            return subprocess.run([*cls.rsh.split(), "127.0.0.1", "true"], check=False,
                                  stderr=subprocess.DEVNULL).returncode == 0
        if not wait_for(up, 10):
            raise unittest.SkipTest("sshd does not let this user in")

    @classmethod
    def stop(cls):
        cls.daemon.terminate()
        cls.daemon.wait()

    def options(self, hosts):
        return ["--hosts", ",".join(hosts), "--rsh", self.rsh]

    def test_a_port_where_nobody_is(self):
        self.rsh = "ssh -F none -o BatchMode=yes -p 1"
        code, _, errors = self.job(RANK)
        self.assertEqual(code, 2)
        self.assertRegex(errors, r"host 127\.0\.0\.[12]: ssh: connect to host")
        self.assertIn("Connection refused", errors)


class Nodes(TwoRails, Everywhere, Jobs):
    """Nodes with networks between them: namespaces of this machine."""

    NET = str(os.getpid() % 200 + 20)
    HOSTS = (f"flh{NET}a:2", f"flh{NET}b:2")

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise unittest.SkipTest("needs root and iproute2 (scripts/install-deps --bench)")
        cls.addClassCleanup(cls.script, "down")
        made = cls.script("up")
        if made.returncode != 0:
            raise unittest.SkipTest(f"no network namespaces: {made.stderr}")

    @classmethod
    def script(cls, action):
        script = Path(__file__).resolve().parent / "namespaces"
        names = [host.split(":")[0] for host in cls.HOSTS]
        return subprocess.run([str(script), action, *names], env={**os.environ, "NET": cls.NET},
                              text=True, stderr=subprocess.PIPE, check=False)

    def options(self, hosts):
        return ["--nodes", ",".join(hosts)]

    def bytes_sent(self, node, rail):
        counter = f"/sys/class/net/rail{rail}/statistics/tx_bytes"
        return int(subprocess.run(["ip", "netns", "exec", self.HOSTS[node].split(":")[0], "cat",
                                   counter], stdout=subprocess.PIPE, check=True).stdout)

    def test_data_crosses_the_network(self):
        before = [self.bytes_sent(node, 0) for node in (0, 1)]
        code, out, errors = self.job(RANK, more=("--stats",))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)
        self.assertRegex(errors, r"4 ranks on 2 nodes \(shm within, udp between\), [0-9.]+ s")
        for node in (0, 1):
            self.assertGreater(self.bytes_sent(node, 0) - before[node], 1 << 20)

    def test_a_lost_last_word_does_not_hold_the_others_up(self):
        """Whoever leaves says goodbye: nobody waits 5 s for an acknowledgment that was lost."""
        slow = 0
        for seed in range(8):
            begin = time.monotonic()
            code, out, errors = self.job(RANK, more=("--faults", "drop=0.1", "--seed", str(seed)))
            self.assertEqual(code, 0, errors)
            self.check_exchange(4, out)
            slow += time.monotonic() - begin > 4
        # Expect: not one of them, but for all its goodbyes were lost (1 in 10,000)
        self.assertLessEqual(slow, 1)

    def test_an_address_by_its_network(self):
        before = [self.bytes_sent(node, 1) for node in (0, 1)]
        code, out, errors = self.job(RANK, more=("--address", f"10.78.{self.NET}.0/24"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)
        for node in (0, 1):
            self.assertGreater(self.bytes_sent(node, 1) - before[node], 1 << 20)


def main():
    global FAIRLEAD, RANK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fairlead", required=True, help="the command")
    parser.add_argument("--rank", required=True, help="the program launchers_rank")
    parser.add_argument("--stream", required=True, help="the program hosts_stream")
    parser.add_argument("suites", nargs="*")
    arguments = parser.parse_args()
    FAIRLEAD = str(Path(arguments.fairlead).resolve())
    RANK = str(Path(arguments.rank).resolve())
    TwoRails.RANK = RANK
    TwoRails.STREAM = str(Path(arguments.stream).resolve())
    TwoRails.ENGINES = ENGINES
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        [f"{__name__}.{suite}" for suite in arguments.suites])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped and len(result.skipped) >= result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
