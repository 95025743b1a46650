"""What running ranks wait in: from outside by `fairlead ps`, from themselves by SIGUSR1."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from command import BIN, environment, fairlead

# Rank 0 waits for what its argument names; rank 1 computes until there is a file "go", then does
# its part.
PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void taken(int number) {
  (void)number;
  (void)!write(2, "mine\n", 5);
}

int main(int argc, char** argv) {
  int rank, number = 0;
  const char* what = argv[1];
  if (strcmp(what, "taken") == 0) signal(SIGUSR1, taken);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm pair;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_name(pair, "the pair");
  /* What it still has to send leaves: rank 1 is in no call of MPI from here on. */
  for (int i = 0; i < 20; ++i) {
    MPI_Iprobe(1 - rank, 1, pair, &number, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  if (rank == 1) while (access("go", F_OK) != 0) usleep(1000);
  static char large[100000];
  if (strcmp(what, "receive") == 0 || strcmp(what, "taken") == 0) {
    if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 1, 7, pair, MPI_STATUS_IGNORE);
    else MPI_Send(&number, 1, MPI_INT, 0, 7, pair);
  } else if (strcmp(what, "any") == 0) {
    if (rank == 0) MPI_Recv(large, 1000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
    else MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else if (strcmp(what, "send") == 0) {
    if (rank == 0) MPI_Send(large, sizeof large, MPI_BYTE, 1, 9, pair);
    else MPI_Recv(large, sizeof large, MPI_BYTE, 0, 9, pair, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "probe") == 0) {
    if (rank == 0) MPI_Probe(1, 3, pair, MPI_STATUS_IGNORE);
    else MPI_Send(&number, 1, MPI_INT, 0, 3, pair);
    if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 1, 3, pair, MPI_STATUS_IGNORE);
  } else if (strcmp(what, "barrier") == 0) {
    MPI_Barrier(pair);
  }
  if (rank == 0) while (access("end", F_OK) != 0) usleep(1000);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
"""

# Rank 0 has a lock until there is a file "go"; rank 1, which has another one, waits for it.
MEMORY_PROGRAM = r"""
#include <fairlead/systems/dsm/tmk.h>
#include <unistd.h>

int main(int argc, char** argv) {
  Tmk_startup(argc, argv);
  if (Tmk_proc_id == 0) Tmk_lock_acquire(5);
  if (Tmk_proc_id == 1) Tmk_lock_acquire(3);
  Tmk_barrier(0);
  if (Tmk_proc_id == 0) while (access("go", F_OK) != 0) usleep(1000);
  if (Tmk_proc_id == 1) Tmk_lock_acquire(5);
  if (Tmk_proc_id == 1) Tmk_lock_release(3);
  Tmk_lock_release(5);
  while (access("end", F_OK) != 0) usleep(1000);
  Tmk_exit(0);
}
"""

# PE 0 waits for a word that PE 1 puts once there is a file "go".
SHMEM_PROGRAM = r"""
#include <shmem.h>
#include <unistd.h>

static int word = 0;

int main(void) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_int_wait_until(&word, SHMEM_CMP_EQ, 1);
  if (shmem_my_pe() == 1) {
    while (access("go", F_OK) != 0) usleep(1000);
    shmem_int_p(&word, 1, 0);
  }
  while (access("end", F_OK) != 0) usleep(1000);
  shmem_finalize();
  return 0;
}
"""


class Ps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.program = Path(cls.built.name) / "waits"
        source = cls.program.with_suffix(".c")
        source.write_text(PROGRAM)
        subprocess.run([str(BIN / "fairlead-mpicc"), "-O1", str(source), "-o", str(cls.program)],
                       check=True, env=environment())
        cls.memory_program = Path(cls.built.name) / "memory"
        source = cls.memory_program.with_suffix(".c")
        source.write_text(MEMORY_PROGRAM)
        subprocess.run([str(BIN / "fairlead-dsmcc"), "-O1", str(source), "-o",
                        str(cls.memory_program)], check=True, env=environment())
        cls.shmem_program = Path(cls.built.name) / "words"
        source = cls.shmem_program.with_suffix(".c")
        source.write_text(SHMEM_PROGRAM)
        subprocess.run([str(BIN / "fairlead-oshcc"), "-O1", str(source), "-o",
                        str(cls.shmem_program)], check=True, env=environment())

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.job = None

    def begin(self, what, *options, program=None):
        self.job = subprocess.Popen(
            [str(BIN / "fairlead"), "run", "-n", "2", "--timeout", "60", *options,
             str(program or self.program), what], cwd=self.folder.name, env=environment(),
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)

    def stop(self):
        if self.job.poll() is None:
            self.job.kill()
        self.job.communicate()

    def seen(self, pid=None):
        answer = fairlead("ps", "--json", str(pid or self.job.pid))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        jobs = json.loads(answer.stdout)["jobs"]
        self.assertEqual(len(jobs), 1)
        return jobs[0]

    def until(self, state, rank=0, call=None):
        """The rank once it is in that state, behind the calls that the program begins with, in the
        call where one is named."""
        for _ in range(500):
            if self.job.poll() is None and self.has_board():
                found = self.seen()["ranks"][rank]
                if found["state"] == state and found.get("call") != "MPI_Comm_dup":
                    if call is None or found["call"] == call:
                        return found
            time.sleep(0.02)
        self.fail(f"rank {rank} never came to '{state}'")

    def has_board(self):
        folder = f"/proc/{self.job.pid}/fd"
        for fd in os.listdir(folder):
            try:
                if "fairlead-board" in os.readlink(f"{folder}/{fd}"):
                    return True
            except OSError:
                pass
        return False

    def touch(self, name):
        (Path(self.folder.name) / name).touch()

    def end(self):
        self.touch("end")
        _, error = self.job.communicate(timeout=60)
        self.assertEqual(self.job.returncode, 0, error)
        return error

    def wait_and_end(self, what, expected, *options):
        self.begin(what, *options)
        rank = self.until("waits")
        for key, value in expected.items():
            self.assertEqual(rank.get(key), value, rank)
        # Expect: the time counts on, and the other rank is in no call.
        time.sleep(0.1)
        self.assertGreaterEqual(self.until("waits")["seconds"], rank["seconds"] + 0.1)
        self.assertEqual(self.seen(rank["pid"])["ranks"][1]["state"], "runs")
        self.touch("go")
        # Expect: it ends with the wait.
        self.until("runs")
        self.end()

    def test_receives(self):
        self.wait_and_end("receive", {"call": "MPI_Recv", "peer": 1, "tag": 7, "bytes": 4,
                                      "communicator": "the pair", "waits_for": "receive"})

    def test_receives_from_any(self):
        self.wait_and_end("any", {"call": "MPI_Recv", "peer": "any", "tag": "any", "bytes": 1000,
                                  "communicator": "MPI_COMM_WORLD"})

    def test_sends(self):
        self.wait_and_end("send", {"call": "MPI_Send", "peer": 1, "tag": 9, "bytes": 100000,
                                   "communicator": "the pair", "waits_for": "send"})

    def test_probes(self):
        self.wait_and_end("probe", {"call": "MPI_Probe", "peer": 1, "tag": 3,
                                    "communicator": "the pair"})

    def test_collectives(self):
        for on in ("shm", "udp"):
            self.wait_and_end("barrier", {"call": "MPI_Barrier", "communicator": "the pair"},
                              "--on", on)
            for name in ("go", "end"):
                (Path(self.folder.name) / name).unlink()

    def test_text_and_signal(self):
        self.begin("receive")
        self.until("waits")
        line = r"MPI_Recv from rank 1, tag 7, the pair, up to 4 bytes, for \d+\.\d{3} s\n"
        answer = fairlead("ps", str(self.job.pid))
        self.assertRegex(answer.stdout, rf"job {self.job.pid}: .*run -n 2.* receive\n")
        self.assertRegex(answer.stdout, r"\n  0 +\d+ +" + line)
        self.assertRegex(answer.stdout, r"\n  1 +\d+ +not in a call that waits")
        # Expect: the job is among all.
        self.assertIn(f"job {self.job.pid}:", fairlead("ps").stdout)
        self.job.send_signal(signal.SIGUSR1)
        time.sleep(0.3)
        self.touch("go")
        error = self.end()
        self.assertRegex(error, r"fairlead: rank 0 of 2 \(process \d+\): " + line)
        self.assertRegex(error, r"fairlead: rank 1 of 2 \(process \d+\): not in a call that waits")

    def test_signal_of_the_program(self):
        """Expect: a program that takes the signal keeps it."""
        self.begin("taken")
        self.until("waits")
        self.job.send_signal(signal.SIGUSR1)
        time.sleep(0.3)
        self.touch("go")
        error = self.end()
        self.assertEqual(len(re.findall("^mine$", error, re.MULTILINE)), 2, error)
        self.assertNotIn("fairlead: rank", error)

    def test_modelled_ranks(self):
        self.begin("receive", "--on", "myrinet-p3", "--body", "process")
        rank = self.until("waits")
        self.assertEqual((rank["call"], rank["peer"], rank["tag"]), ("MPI_Recv", 1, 7), rank)
        self.assertGreater(rank["since_virtual_s"], 0)
        self.touch("go")
        self.until("runs")
        self.end()

    def test_shared_memory(self):
        for protocol in ("newgen-full", "async"):
            self.begin("memory", "--dsm-protocol", protocol, program=self.memory_program)
            rank = self.until("waits", rank=1, call="lock 5")
            self.assertEqual((rank["peer"], rank["holds"]), (0, "lock 3"), rank)
            self.assertNotIn("communicator", rank)
            answer = fairlead("ps", str(self.job.pid))
            self.assertRegex(answer.stdout, r"\n  1 +\d+ +lock 5, waits for rank 0, holds lock 3, "
                                            r"for \d+\.\d{3} s\n")
            self.touch("go")
            # Expect: it ends with the wait.
            self.until("runs", rank=1)
            self.end()
            for name in ("go", "end"):
                (Path(self.folder.name) / name).unlink()

    def test_shmem(self):
        for on in ("shm", "udp"):
            self.begin("words", "--on", on, program=self.shmem_program)
            self.until("waits", call="shmem_int_wait_until")
            line = r"shmem_int_wait_until, at 0x[0-9a-f]+, for \d+\.\d{3} s\n"
            self.assertRegex(fairlead("ps", str(self.job.pid)).stdout, r"\n  0 +\d+ +" + line)
            self.job.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
            self.touch("go")
            # Expect: it ends with the wait.
            self.until("runs")
            error = self.end()
            self.assertRegex(error, r"fairlead: rank 0 of 2 \(process \d+\): " + line)
            self.assertRegex(error, r"fairlead: rank 1 of 2 \(process \d+\): not in a call")
            for name in ("go", "end"):
                (Path(self.folder.name) / name).unlink()

    def test_bad_numbers(self):
        for pid, text in (("999999999", "there is no process 999999999"),
                          (str(os.getpid()), "is in no job"), ("-1", "must be the number")):
            answer = fairlead("ps", "--", pid)
            self.assertEqual(answer.returncode, 2, answer.stdout)
            self.assertIn(text, answer.stderr)


if __name__ == "__main__":
    unittest.main()
