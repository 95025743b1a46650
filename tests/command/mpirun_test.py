"""mpirun and mpiexec as scripts write them for other launchers, and several programs in a job."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, MPI_PLACES, NO_COMPUTING, OfOneProgram, environment, fairlead

RANKS = ["printenv", "FAIRLEAD_RANKS"]


class Options(unittest.TestCase):
    def mpirun(self, *arguments, **more):
        return subprocess.run([str(BIN / "fairlead-mpirun"), *arguments], capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL,
                              env=environment() | more, check=False)

    def takes(self, *arguments, said=""):
        """Expect: two ranks run, and nothing is said but what is to be."""
        done = self.mpirun(*arguments)
        self.assertEqual((done.returncode, done.stdout), (0, "2\n2\n"), (arguments, done.stderr))
        if said:
            self.assertRegex(done.stderr, f"^fairlead: {said}[^\n]*\n$", arguments)
        else:
            self.assertEqual(done.stderr, "", arguments)

    def test_options_that_every_launcher_has(self):
        for ranks in (["-n", "2"], ["-np", "2"], ["-c", "2"], ["--np", "2"], ["--n", "2"],
                      ["--np=2"]):
            self.takes(*ranks, *RANKS)

    def test_what_is_so_anyway(self):
        self.takes("--oversubscribe", "--allow-run-as-root", "-np", "2", *RANKS)
        self.takes("-np", "2", "--bind-to", "core", *RANKS)
        self.takes("--bind-to=none", "-np", "2", *RANKS)
        self.takes("-genvall", "-genvlist", "HOME,PATH", "-np", "2", *RANKS)

    def test_what_is_left_out_is_said(self):
        self.takes("--mca", "btl", "self,vader", "-np", "2", *RANKS,
                   said="--mca btl self,vader is left out: a parameter of Open MPI")
        self.takes("--map-by", "node", "-np", "2", *RANKS, said="--map-by node is left out")
        self.takes("-ppn", "2", "-np", "2", *RANKS, said="-ppn 2 is left out.*--hosts a:2,b:2")

    def test_hosts(self):
        self.takes("-host", "localhost:2", "-np", "2", *RANKS)
        self.takes("-H", "localhost,localhost", *RANKS)
        self.takes("-hosts", "127.0.0.1:4", "-np", "2", *RANKS)
        with tempfile.TemporaryDirectory() as folder:
            hosts = Path(folder) / "hosts"
            hosts.write_text("localhost slots=4\n")
            for option in ("--hostfile", "-hostfile", "-machinefile", "--machinefile", "-f"):
                self.takes(option, str(hosts), "-np", "2", *RANKS)

    def test_environment_directory_and_labels(self):
        done = self.mpirun("-genv", "A", "1", "-env", "B", "2 3", "-x", "C=4", "-x", "D", "-np",
                           "1", "-wdir", "/", "sh", "-c", "echo $A $B $C $D $PWD", D="5")
        self.assertEqual((done.returncode, done.stdout), (0, "1 2 3 4 5 /\n"), done.stderr)
        for option in ("-l", "--tag-output", "-prepend-rank"):
            done = self.mpirun(option, "-n", "1", "echo", "-l", "--oversubscribe")
            # Expect: the program's own options stay its own
            self.assertEqual(done.stdout, "[0] -l --oversubscribe\n", done.stderr)

    def test_version_and_help(self):
        for option in ("--version", "-V", "-version"):
            done = self.mpirun(option)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^mpirun of Fairlead \d+\.\d+\.\d+ ")
        done = self.mpirun("--help")
        self.assertIn("-oversubscribe, -allow-run-as-root", done.stdout)
        self.assertIn("--on PLACE", done.stdout)

    def test_refused(self):
        for arguments, text in ((["-np", "2", "--frobnicate", "true"], "no option --frobnicate"),
                                (["-np", "2", "-host"], "-host: its value is missing"),
                                (["--mca", "btl"], "--mca: its value is missing"),
                                (["-np", "none", "true"], "--ranks none: must be")):
            done = self.mpirun(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(text, done.stderr)
        # Expect: one word with -h is no question for help
        done = fairlead("run", "-host", "localhost", "true")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("run has no option -host", done.stderr)


class SeveralPrograms(OfOneProgram):
    PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, sum, given = 0;
  int* number;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &given);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%s %d of %d sum %d program %d %s\n", argv[0], rank, size, sum, given ? *number : -1,
         argv[1]);
  MPI_Finalize();
  return 0;
}
"""

    def job(self, *words):
        done = fairlead("run", "--timeout", "60", *words, cwd=self.folder)
        done.stderr = NO_COMPUTING.sub("", done.stderr)
        return done

    def test_each_rank_runs_its_own(self):
        for on, *more in MPI_PLACES:
            if "fiber" in more:
                continue
            done = self.job("-n", "2", "--on", on, *more, "./program", "a", ":", "-n", "1",
                            "./program", "b", ":", "-np", "1", "sh", "-c", "exec ./program c")
            self.assertEqual(done.returncode, 0, done.stderr)
            # Expect: one world of all, numbered in the order of the programs
            self.assertEqual(sorted(done.stdout.splitlines()),
                             ["./program 0 of 4 sum 6 program 0 a",
                              "./program 1 of 4 sum 6 program 0 a",
                              "./program 2 of 4 sum 6 program 1 b",
                              "./program 3 of 4 sum 6 program 2 c"])

    def test_one_program_has_no_number(self):
        done = self.job("-n", "1", "./program", "a")
        self.assertEqual(done.stdout, "./program 0 of 1 sum 0 program -1 a\n", done.stderr)

    def test_each_has_its_environment_and_directory(self):
        show = ["sh", "-c", "echo $FAIRLEAD_RANK $FAIRLEAD_PROGRAM $A $B $PWD"]
        done = self.job("-n", "1", "-x", "A=1", *show, ":", "-n", "1", "-x", "A=2", "-x", "B=3",
                        "--wdir", "/", *show)
        # Expect: what stands before the first program is the job's
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted([f"0 0 1 {self.folder.resolve()}", "1 1 2 3 /"]), done.stderr)

    def test_the_first_that_fails_is_named(self):
        done = self.job("-n", "1", "./program", "a", ":", "-n", "1", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("rank 1", done.stderr)

    def test_refused(self):
        for words, text in (
                (["-n", "1", "true", ":", "true"], "each needs its -n"),
                (["true", ":", "-n", "1", "true"], "each needs its -n"),
                (["-n", "1", "true", ":", "-n", "1", "nothing"], "cannot run nothing"),
                (["-n", "1", "true", ":", "-n", "1"], "a program is missing"),
                (["-n", "1", "true", ":", "-n"], "-n: its value is missing"),
                (["-n", "1", "true", ":", "-n", "0", "true"], "-n 0: must be a whole number"),
                (["-n", "1", "true", ":", "-n", "1", "--on", "udp", "true"], "and not --on"),
                (["-n", "1", "true", ":", "-n", "1", "--wdir", "/none", "true"], "--wdir /none"),
                (["-n", "1", "true", ":", "-n", "1", "-x", "FAIRLEAD_NONE", "true"],
                 "not set here"),
                (["-n", "1", "--on", "loop", "true", ":", "-n", "1", "true"], "--on loop"),
                (["-n", "1", "--on", "myrinet-p3", "--body", "fiber", "true", ":", "-n", "1",
                  "true"], "--body fiber")):
            done = self.job(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
