"""Jobs of real processes: start-up, streams, signals, and what is left after a failure (nothing).

Every process of a job carries a mark in its environment, so that "nothing left" is read from /proc.
Run: multiprocess_test.py --launch PROGRAM --rank PROGRAM [SUITE...]
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deadlines import GONE_WITHIN_S, SLACK, Deadlines  # noqa: E402
from job_processes import text_of  # noqa: E402

LAUNCH = RANK = ""
KILLS = 200
SEED = 20

def environ_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""

def stat_of(pid):
    """(state, parent) of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1])

def shared_files():
    """In /dev/shm, but for those of libfabric's shm provider, which other tests run on."""
    return {name for name in os.listdir("/dev/shm") if not re.match(r"ofi-[0-9a-f]{16}", name)}

class Job:
    """One launcher, its mark, and what can be seen of it in /proc."""

    def __init__(self, *arguments, stdin=subprocess.DEVNULL):
        self.mark = f"FAIRLEAD_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [LAUNCH, *map(str, arguments)], env={**os.environ, name: value}, stdin=stdin,
            stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)

    def text(self):
        return text_of(self.output)

    def wait(self, timeout=20):
        return self.process.wait(timeout)

    def members(self):
        """{pid: (state, parent)} of every living process of the job."""
        mark = self.mark.encode()
        found = {}
        for name in os.listdir("/proc"):
            if name.isdigit() and mark in environ_of(name):
                stat = stat_of(name)
                if stat and stat[0] not in "ZX":
                    found[int(name)] = stat
        return found

    def guardian(self):
        """The launcher's child, or None while it has none."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        try:
            with open(path) as file:
                children = file.read().split()
        except OSError:
            return None
        return int(children[0]) if children else None

    def ranks(self):
        guardian = self.guardian()
        if guardian is None:
            return []
        try:
            with open(f"/proc/{guardian}/task/{guardian}/children") as file:
                return [int(pid) for pid in file.read().split()]
        except OSError:
            return []

    def wait_for_text(self, pattern, count=1, timeout=10):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = re.findall(pattern, self.text())
            if len(found) >= count:
                return found
            time.sleep(0.002)
        raise AssertionError(f"{pattern!r} not seen {count} times in:\n{self.text()}")

    def endpoint_files(self):
        """Files of libfabric's shm provider that the job's processes have."""
        found = set()
        for pid in self.members():
            try:
                with open(f"/proc/{pid}/maps") as file:
                    found.update(re.findall(r"/dev/shm/ofi-\S+", file.read()))
            except OSError:
                pass
        return found

    def wait_until_gone(self, since):
        """Seconds from `since` until no process of the job was left."""
        while self.members():
            if time.monotonic() - since > GONE_WITHIN_S * SLACK:
                break
            time.sleep(0.002)
        return time.monotonic() - since

    def close(self):
        self.output.close()

class JobTest(Deadlines, unittest.TestCase):
    def job(self, *arguments, **more):
        job = Job(*arguments, **more)
        self.addCleanup(self.end, job)
        return job

    def end(self, job):
        for pid in job.members():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        job.process.wait()
        job.close()

    def run_job(self, *arguments, **more):
        job = self.job(*arguments, **more)
        code = job.wait()
        return code, job.text()

class Jobs(JobTest):
    """Start-up and what ranks are given."""

    def test_ranks_know_their_place(self):
        code, text = self.run_job("-n", 3, RANK, "show")
        self.assertEqual(code, 0, text)
        # Expect: each rank once
        self.assertEqual(sorted(re.findall(r"rank (\d) of 3", text)), ["0", "1", "2"])

    def test_32_ranks(self):
        code, text = self.run_job("-n", 32, RANK, "exchange", 1000)
        self.assertEqual((code, text), (0, ""))

    def test_without_a_launcher_it_is_a_job_of_one(self):
        environment = {k: v for k, v in os.environ.items() if k != "FAIRLEAD_BOOTSTRAP"}
        text = subprocess.run([RANK, "show"], env=environment, capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("rank 0 of 1", text)

    def test_nonsense_in_the_environment_is_named(self):
        environment = {**os.environ, "FAIRLEAD_BOOTSTRAP": "next door"}
        done = subprocess.run([RANK, "show"], env=environment, capture_output=True, text=True)
        # Expect: an error that names the variable
        self.assertEqual(done.returncode, 9)
        self.assertIn("FAIRLEAD_BOOTSTRAP=next door", done.stderr)

    def test_one_process_is_one_rank(self):
        code, text = self.run_job("-n", 2, RANK, "twice")
        self.assertEqual(code, 0, text)
        # Expect: forked and executed children are refused, with reasons
        self.assertEqual(len(re.findall(r"child of rank \d: 9", text)), 4, text)
        self.assertEqual(text.count("was forked by a rank"), 2)
        self.assertEqual(text.count("child of the rank's program"), 2)

    def test_the_second_program_of_a_script_is_refused(self):
        code, text = self.run_job("-n", 1, "sh", "-c", f"{RANK} exchange 0; {RANK} exchange 0")
        self.assertEqual(code, 9)
        self.assertIn("another program of this rank has joined already", text)

    def test_standard_input_goes_to_rank_0(self):
        reading, writing = os.pipe()
        os.write(writing, b"a line\nand another\n")
        os.close(writing)
        code, text = self.run_job("-n", 3, "--label", RANK, "copy", stdin=reading)
        os.close(reading)
        self.assertEqual(code, 0)
        # Expect: both lines at rank 0, the end of file everywhere
        self.assertEqual(sorted(text.splitlines()),
                         ["[0] a line", "[0] and another", "[0] rank 0 saw the end",
                          "[1] rank 1 saw the end", "[2] rank 2 saw the end"])

    def test_label_keeps_the_streams_apart(self):
        done = subprocess.run([LAUNCH, "-n", "2", "--label", "sh", "-c", "echo out; echo err >&2"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out", "[1] out"])
        self.assertEqual(sorted(done.stderr.splitlines()), ["[0] err", "[1] err"])

    def test_label_loses_nothing(self):
        done = subprocess.run([LAUNCH, "-n", "3", "--label", "seq", "20000"],
                              capture_output=True, text=True, check=True)
        # Expect: every line of every rank, each rank's in order
        for rank in range(3):
            mine = [line for line in done.stdout.splitlines() if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [f"[{rank}] {i}" for i in range(1, 20001)])

    def test_label_does_not_lose_output_in_silence(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([LAUNCH, "-n", "2", "--label", "echo", "hello"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output cannot be written: No space left on device", done.stderr)
        # Expect: as without the label where nobody reads
        job = subprocess.Popen([LAUNCH, "-n", "2", "--label", "yes"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertRegex(job.stdout.readline(), r"\[[01]\] y")
        job.stdout.close()
        self.assertEqual(job.wait(timeout=20), 128 + signal.SIGPIPE)
        self.assertIn("nobody reads the ranks' standard output", job.stderr.read())
        job.stderr.close()

    def test_what_is_wrong_with_a_jobs_set_up_is_said_once(self):
        code, text = self.run_job("-n", 4, "--on", "ofi", "--provider", "nobody", RANK, "show")
        self.assertEqual(code, 9, text)
        if "cannot be loaded" in text:
            self.skipTest(text)
        # Expect: once, and for how many
        self.assertEqual(text.count('no provider "nobody"'), 1, text)
        self.assertIn("(4 of 4 ranks here)", text)

    def test_a_peer_never_heard_of_is_named(self):
        since = time.monotonic()
        code, text = self.run_job("-n", 2, "-x", "FAIRLEAD_PATIENCE=1", "--faults", "drop=1", RANK,
                                  "exchange", 10_000_000)
        self.assertEqual(code, 1, text)
        # Expect: who waited, for whom, how long, and what to try
        self.assertRegex(text, r"rank ([01]) ended the job: nothing was ever heard of rank (?!\1)")
        for words in ("for 1 s", "--faults", "--patience", "to see it again"):
            self.assertIn(words, text)
        self.check_in_time(since, 3)
        code, text = self.run_job("-n", 2, "-x", "FAIRLEAD_PATIENCE=soon", "--faults", "drop=1",
                                  RANK, "exchange", 1000)
        self.assertEqual(code, 9, text)
        self.assertIn("FAIRLEAD_PATIENCE=soon: must be a number of seconds", text)

    def test_environment_and_directory(self):
        os.environ["FAIRLEAD_TEST_VALUE"] = "from outside"
        try:
            _, text = self.run_job("-n", 1, "-x", "FAIRLEAD_TEST_VALUE", RANK, "show")
            self.assertIn("value from outside", text)
            with tempfile.TemporaryDirectory() as directory:
                _, text = self.run_job("-n", 1, "-x", "FAIRLEAD_TEST_VALUE=given", "--wdir",
                                       directory, RANK, "show")
                self.assertIn(f"value given in {os.path.realpath(directory)} ", text)
        finally:
            del os.environ["FAIRLEAD_TEST_VALUE"]
        code, text = self.run_job("-n", 1, "-x", "FAIRLEAD_TEST_VALUE", RANK, "show")
        # Expect: what is not set is named, with the way out
        self.assertEqual(code, 2)
        self.assertIn("-x FAIRLEAD_TEST_VALUE=value", text)

    def test_a_relative_program_is_looked_for_in_the_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            os.symlink(RANK, os.path.join(directory, "prog"))
            code, text = self.run_job("-n", 1, "--wdir", directory, "./prog", "show")
            self.assertEqual(code, 0, text)

    def test_binding(self):
        cores = len(os.sched_getaffinity(0))
        _, text = self.run_job("-n", 1, RANK, "show")
        self.assertIn(" processors 1 ", text)
        for options in (["-n", 1, "--bind", "none"], ["-n", cores + 1]):
            _, text = self.run_job(*options, RANK, "show")
            # Expect: not bound when told so, or when ranks outnumber processors
            self.assertIn(f" processors {cores} ", text)
        code, text = self.run_job("-n", 1, "--bind", "nowhere", RANK, "show")
        self.assertEqual(code, 2)
        self.assertIn("0,2-3", text)

    def test_what_cannot_be_run_is_said_once(self):
        for program, why in (("./missing", "No such file"), ("no-such-program", "along PATH"),
                             ("/", "directory"), ("/etc/passwd", "not executable")):
            code, text = self.run_job("-n", 4, program)
            self.assertEqual(code, 2, text)
            self.assertIn(why, text)
            self.assertEqual(len(text.splitlines()), 1)
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as script:
            script.write("#!/no/such/interpreter\n")
        os.chmod(script.name, 0o755)
        code, text = self.run_job("-n", 4, script.name)
        os.unlink(script.name)
        # Expect: what only exec can know is named by a rank
        self.assertEqual(code, 127)
        self.assertRegex(text, r"rank \d could not run .*\.sh: No such file")

    def test_an_unknown_world_lists_the_valid_ones(self):
        code, text = self.run_job("-n", 2, "--on", "myrinet-p4", RANK, "show")
        self.assertEqual(code, 2)
        self.assertRegex(text, r"myrinet-p4: unknown; valid: shm, udp, ofi, loop")

    def test_two_jobs_side_by_side(self):
        jobs = [self.job("-n", n, RANK, "exchange", 300000) for n in (2, 3)]
        for job in jobs:
            # Expect: each ends well by itself, with the other's ranks unseen
            self.assertEqual(job.wait(), 0, job.text())

    def test_the_failure_of_one_job_leaves_the_other_alone(self):
        other = self.job("-n", 2, RANK, "exchange", 400000)
        code, _ = self.run_job("-n", 2, RANK, "exit", 1, 3)
        self.assertEqual(code, 3)
        self.assertEqual(other.wait(), 0, other.text())

    def test_nothing_is_left_behind_by_a_good_job(self):
        files = shared_files()
        job = self.job("-n", 2, RANK, "parent", 1000)
        self.assertEqual(job.wait(), 0, job.text())
        # Expect: the ranks' own children went with the job, and there is no file
        self.assertEqual(job.members(), {})
        self.assertEqual(shared_files(), files)

class Signals(JobTest):
    """What reaches the command reaches the ranks."""

    def start(self):
        job = self.job("-n", 2, RANK, "signals")
        return job, [int(pid) for pid in job.wait_for_text(r"pid (\d+)", 2)]

    def test_user_signals(self):
        job, _ = self.start()
        job.process.send_signal(signal.SIGUSR1)
        job.wait_for_text(r"rank \d got USR1", 2)
        job.process.send_signal(signal.SIGUSR2)
        # Expect: the ranks end by their own decision, in order
        self.assertEqual(job.wait(), 0, job.text())
        self.assertEqual(len(re.findall(r"rank \d got USR2", job.text())), 2)

    def wait_for_state(self, pids, states):
        end = time.monotonic() + 5
        while any((stat_of(pid) or "?")[0] not in states for pid in pids):
            self.assertLess(time.monotonic(), end, [stat_of(pid) for pid in pids])
            time.sleep(0.002)

    def test_stop_and_continue(self):
        job, ranks = self.start()
        job.process.send_signal(signal.SIGTSTP)
        # Expect: ranks and command are stopped
        self.wait_for_state([*ranks, job.process.pid], "T")
        job.process.send_signal(signal.SIGCONT)
        self.wait_for_state([*ranks, job.process.pid], "SR")
        job.wait_for_text(r"rank \d got CONT", 2)
        job.process.send_signal(signal.SIGUSR2)
        self.assertEqual(job.wait(), 0, job.text())

    def test_interrupt_ends_the_job(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            job = self.job("-n", 2, RANK, "parent", 20_000_000)
            while len(job.ranks()) < 2:
                time.sleep(0.001)
            since = time.monotonic()
            job.process.send_signal(number)
            self.assertEqual(job.wait(), code, job.text())
            job.wait_until_gone(since)
            self.check_in_time(since, GONE_WITHIN_S)
            self.assertIn(number.name, job.text())

    def test_a_second_interrupt_kills_who_ignores_the_first(self):
        job, _ = self.start()
        job.process.send_signal(signal.SIGINT)
        job.wait_for_text(r"rank \d got INT", 2)
        self.assertIsNone(job.process.poll())
        since = time.monotonic()
        job.process.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(), 130)
        job.wait_until_gone(since)
        self.check_in_time(since, GONE_WITHIN_S)
        self.assertIn("interrupted twice", job.text())

    def test_a_background_job_of_a_script_can_be_interrupted(self):
        # Shells without job control start background jobs with SIGINT ignored.
        mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            job = self.job("-n", 2, RANK, "exchange", 20_000_000)
        finally:
            signal.signal(signal.SIGINT, mine)
        while len(job.ranks()) < 2:
            time.sleep(0.001)
        time.sleep(0.05)
        job.process.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(), 130, job.text())

class Failures(JobTest):
    """The first failing rank decides; everything is gone within a second."""

    def fails(self, code, pattern, *arguments):
        job = self.job(*arguments)
        self.assertEqual(job.wait(), code, job.text())
        self.assertRegex(job.text(), pattern)
        self.assertEqual(job.members(), {})

    def test_exit_codes(self):
        self.fails(7, r"rank 1 \(process \d+\) exited with code 7 without MPI_Finalize",
                   "-n", 3, RANK, "exit", 1, 7)
        self.fails(3, r"rank \d \(process \d+\) exited with code 3$", "-n", 2, RANK, "leave", 3)

    def test_exit_without_an_orderly_end(self):
        self.fails(1, r"rank 2 \(process \d+\) exited with code 0 without MPI_Finalize",
                   "-n", 3, RANK, "exit", 2, 0)

    def test_ranks_that_never_join(self):
        # Expect: a job without any is a success; where others have joined it, it cannot end
        job = self.job("-n", 3, RANK, "leave", 0)
        self.assertEqual(job.wait(), 0, job.text())
        for late in ("", "sleep 0.5; "):
            self.fails(1, r"rank 1 \(process \d+\) exited with code 0 and never joined the job, as "
                          r"rank [02] did",
                       "-n", 3, "/bin/sh", "-c",
                       f'[ $FAIRLEAD_RANK = 1 ] || {{ {late}exec {RANK} exit 7 0; }}')

    def test_signals(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM):
            self.fails(128 + number, rf"rank 1 \(process \d+\) was ended by {number.name}",
                       "-n", 3, RANK, "signal", 1, int(number))

    def ofi_job(self, *arguments):
        return self.job("-n", 2, "--on", "ofi", "--provider", "tcp", RANK, *arguments)

    def test_signals_where_libfabric_is_loaded(self):
        for number in (signal.SIGABRT, signal.SIGTERM, signal.SIGINT):
            job = self.ofi_job("raise", 1, int(number))
            code = job.wait()
            if "libfabric" in job.text():
                self.skipTest(job.text())
            # Expect: as anywhere: no library stands between a signal and the rank
            self.assertEqual(code, 128 + number, job.text())
            self.assertRegex(job.text(), rf"rank 1 \(process \d+\) was ended by {number.name}")

    def test_a_signal_while_libfabric_is_loaded(self):
        for ms in range(0, 60, 4):
            job = self.ofi_job("exchange", 20_000_000)
            time.sleep(ms / 1000)
            since = time.monotonic()
            job.process.terminate()
            # Expect: the job ends, whatever its ranks, or the launcher, were about
            self.assertIn(job.wait(), (128 + signal.SIGTERM, -signal.SIGTERM), job.text())
            job.wait_until_gone(since)
            self.check_in_time(since, GONE_WITHIN_S)

    def test_abort(self):
        self.fails(5, "rank 1 ended the job: the matrix is singular", "-n", 3, RANK, "abort", 1, 5)
        # Expect: a job that was told to stop is never a success
        self.fails(1, "rank 0 ended the job", "-n", 3, RANK, "abort", 0, 256)

    def test_the_timeout_names_who_was_still_running(self):
        since = time.monotonic()
        self.fails(124, r"--timeout of 0.2 s .* 2 of 2 ranks were still running: 0 1",
                   "-n", 2, "--timeout-ms", 200, RANK, "parent", 20_000_000)
        self.check_in_time(since, 0.2 + GONE_WITHIN_S)

    def test_a_script_that_outlives_its_program(self):
        since = time.monotonic()
        self.fails(1, "rank 1: its program ended without MPI_Finalize",
                   "-n", 2, "sh", "-c", f"{RANK} exit 1 0; sleep 30")
        self.check_in_time(since, 2 * GONE_WITHIN_S)

    def test_the_others_may_still_say_what_they_found(self):
        # Expect: with an orderly exit code the other ranks' last words are not cut off
        _, text = self.run_job("-n", 2, "sh", "-c",
                               "[ $FAIRLEAD_RANK = 0 ] && exit 4; sleep 0.05; echo last words")
        self.assertIn("last words", text)

class Kills(JobTest):
    """kill -9 at seeded random moments: in start-up, exchange and shutdown."""

    RUN_US = 60_000  # of the exchange: moments are drawn from 0 to about three times its length

    def kill_once(self, victim, seed, failures):
        """One job and one kill. True: the kill hit a process that was running."""
        draw = random.Random(seed)
        body = draw.choice(["exchange", "parent"])
        job = Job("-n", 3, *draw.choice([[], ["--label"]]), RANK, body, self.RUN_US)
        try:
            time.sleep(draw.uniform(0, 0.16))
            pid = self.choose(job, victim, draw)
            alive = pid is not None and (stat_of(pid) or "Z")[0] not in "ZX"
            if not alive:
                job.wait()
                return False
            since = time.monotonic()
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
            code = job.wait()
            took = job.wait_until_gone(since)
            if code == 0 and not job.text():
                return False  # the job had ended a moment before
            self.judge(victim, pid, code, took, job.text(), failures, seed)
            return True
        finally:
            self.end(job)

    def choose(self, job, victim, draw):
        if victim == "launcher":
            return job.process.pid
        end = time.monotonic() + 5
        while job.process.poll() is None and time.monotonic() < end:
            choice = job.ranks() if victim == "rank" else [job.guardian()]
            if choice and choice[0] is not None:
                return draw.choice(choice)
            time.sleep(0.0005)
        return None

    def judge(self, victim, pid, code, took, text, failures, seed):
        # Expect: everything gone in time, and the right one named
        expected = {"rank": rf"rank \d \(process {pid}\) was ended by SIGKILL",
                    "guardian": rf"guardian process \({pid}\) was ended by SIGKILL",
                    "launcher": r"^"}[victim]
        wanted = -signal.SIGKILL if victim == "launcher" else 128 + signal.SIGKILL
        if took >= GONE_WITHIN_S * SLACK or code != wanted or not re.search(expected, text):
            failures.append(f"{victim} {pid}, seed {seed}: code {code}, gone after {took:.3f} s, "
                            f"said {text!r}")

    def kill_many(self, victim, wanted):
        failures, hits, misses, lock = [], [0], [0], threading.Lock()
        seeds = iter(range(SEED, 10**9))

        def work():
            while True:
                with lock:
                    if hits[0] >= wanted or failures:
                        return
                    seed = next(seeds)
                hit = self.kill_once(victim, seed, failures)
                with lock:
                    (hits if hit else misses)[0] += 1
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        # Expect: most moments drawn fall within the life of a job
        self.assertLess(misses[0], 2 * wanted)

    def test_ranks(self):
        files = shared_files()
        self.kill_many("rank", KILLS)
        self.assertEqual(shared_files(), files)

    def test_files_of_libfabrics_shm_go_with_the_job(self):
        for victim in ("a rank", "every rank", "the launcher", "the guardian"):
            job = self.job("-n", 3, "--on", "ofi", "--provider", "shm", RANK, "exchange",
                           5_000_000)
            end = time.monotonic() + 20
            while len(files := job.endpoint_files()) < 3 and time.monotonic() < end:
                if job.process.poll() is not None and "libfabric" in job.text():
                    self.skipTest(job.text())
                time.sleep(0.01)
            self.assertEqual(len(files), 3, job.text())
            victims = {"a rank": job.ranks()[1:2], "every rank": job.ranks(),
                       "the launcher": [job.process.pid],
                       "the guardian": [job.guardian()]}[victim]
            since = time.monotonic()
            for pid in victims:
                os.kill(pid, signal.SIGKILL)
            self.assertNotEqual(job.wait(), 0)
            job.wait_until_gone(since)
            self.check_in_time(since, GONE_WITHIN_S)
            # Expect: each rank had one, and none is left
            self.assertEqual([path for path in files if os.path.exists(path)], [], victim)

    def test_launcher(self):
        self.kill_many("launcher", KILLS // 2)

    def test_guardian(self):
        self.kill_many("guardian", KILLS // 4)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--launch", required=True)
    parser.add_argument("--rank", required=True)
    parser.add_argument("suites", nargs="*")
    given = parser.parse_args()
    LAUNCH, RANK = os.path.abspath(given.launch), os.path.abspath(given.rank)
    unittest.main(argv=[sys.argv[0], "-v", *given.suites])
