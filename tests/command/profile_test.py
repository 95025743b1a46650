"""fairlead run --profile: what an MPI program's calls took and moved, in both worlds."""
import json
import unittest

from browser import CHROMIUM, check_page
from command import MPI_PLACES, OfOneProgram, fairlead

# Each rank sends 10 messages of 800 bytes to the next, 5 of 8 bytes by a persistent request, puts
# 16 bytes there, and takes part in collectives.
PROGRAM = r"""
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, size;
  double row[100] = {0}, in[100], memory[2], sum;
  MPI_Request requests[2];
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int i = 0; i < 10; ++i) {
    MPI_Irecv(in, 100, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(row, 100, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  /* Ranks of a communicator are told as those of the job. */
  MPI_Comm reverse;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
  MPI_Send_init(row, 1, MPI_DOUBLE, size - 1 - next, 1, reverse, &requests[0]);
  MPI_Recv_init(in, 1, MPI_DOUBLE, size - 1 - last, 1, reverse, &requests[1]);
  for (int i = 0; i < 5; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Comm_free(&reverse);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(row, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Bcast(row, 100, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Allreduce(row, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""
RANKS = OfOneProgram.RANKS
# By call: how often, and bytes, of all ranks.
CALLS = {"MPI_Isend": (30, 24000), "MPI_Irecv": (30, 0), "MPI_Waitall": (45, 0),
         "MPI_Startall": (15, 120), "MPI_Put": (3, 48), "MPI_Bcast": (3, 800),
         "MPI_Allreduce": (3, 24), "MPI_Barrier": (3, 0), "MPI_Win_fence": (6, 0)}


class Profile(OfOneProgram):
    PROGRAM = PROGRAM

    def run_well(self, *options, **more):
        done = self.run_job(*options, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def profile(self, *options):
        """As JSON; the job itself prints nothing."""
        done = self.run_well(*options, "--profile=profile.json")
        self.assertEqual(done.stdout + done.stderr, "")
        return json.loads((self.folder / "profile.json").read_text())

    def test_counts_everywhere(self):
        for place in MPI_PLACES:
            with self.subTest(place=place):
                found = self.profile("--on", *place)
                self.assertEqual((found["kind"], found["version"], found["ranks"]),
                                 ("mpi-profile", 1, RANKS))
                self.assertEqual(found["time"],
                                 "virtual" if place[0].startswith("myrinet") else "real")
                calls = {each["call"]: each for each in found["calls"]}
                for name, (times, moved) in CALLS.items():
                    self.assertEqual((calls[name]["calls"], calls[name]["bytes"]), (times, moved),
                                     name)
                    self.assertEqual(calls[name]["ranks"], RANKS)
                # Expect: sums over the ranks; the matrix has one peer a rank.
                for rank, of in enumerate(found["per_rank"]):
                    self.assertEqual(of["rank"], rank)
                    self.assertEqual(of["peers"], [
                        {"rank": (rank + 1) % RANKS, "messages": 15, "bytes": 8040, "accesses": 1,
                         "access_bytes": 16}])
                    self.assertLessEqual(of["mpi_s"], of["elapsed_s"])
                self.assertAlmostEqual(sum(of["mpi_s"] for of in found["per_rank"]),
                                       sum(each["seconds"] for each in found["calls"]), places=9)
                self.assertEqual(found["sizes"]["messages"],
                                 [{"least": 8, "most": 15, "count": 15},
                                  {"least": 16, "most": 31, "count": 3},
                                  {"least": 512, "most": 1023, "count": 30}])
                self.assertEqual(found["sizes"]["collectives"],
                                 [{"least": 0, "most": 0, "count": 2},
                                  {"least": 8, "most": 15, "count": 3},
                                  {"least": 512, "most": 1023, "count": 1}])

    def test_bodies_have_one_profile(self):
        bodies = [self.profile("--on", "myrinet-p3", "--body", body)
                  for body in ("process", "fiber")]
        self.assertEqual(*bodies)
        self.assertGreater(bodies[0]["in_mpi"]["mean_s"], 0)

    def test_compare_shows_it_on_its_page(self):
        done = fairlead("compare", "-n", str(RANKS), "--on", "myrinet-p3", "--no-what-if", "--html",
                        "page.html", "./program", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "page.html").read_text()
        # Expect: what each rank sends to the next: 10 x 800, 5 x 8 and 16 bytes.
        self.assertEqual(page.count('title="16 messages">7.9K<'), RANKS)
        self.assertIn("<td>512 to 1023</td><td>30</td>", page)
        if CHROMIUM:
            check_page(self, page, figures=1)

    def test_text(self):
        for more in ((["--profile"], {}), ([], {"FAIRLEAD_MPI_PROFILE": "-"})):
            text = self.run_well(*more[0], **more[1]).stderr
            self.assertRegex(text, r"^MPI profile: 3 ranks, .* from MPI_Init to MPI_Finalize\n")
            self.assertRegex(text, r"\n  MPI_Isend +30 ")
            self.assertRegex(text, r"\n  0 +- +16, 8056 +-\n")
            self.assertRegex(text, r"\n +512 to 1023 +30 +1\n")

    def test_off(self):
        done = self.run_well()
        self.assertEqual(done.stdout + done.stderr, "")

    def test_file_that_cannot_be_written(self):
        done = self.run_well("--profile=/nowhere/profile.json")
        self.assertRegex(done.stderr, "the MPI profile cannot be written to /nowhere/profile.json")


if __name__ == "__main__":
    unittest.main()
