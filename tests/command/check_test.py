"""fairlead run --check: MPI programs that do what MPI does not allow end with ranks and values."""
import unittest

from command import MPI_PLACES, OfOneProgram

# What its argument names goes wrong, on rank 1 or 2 of 3; "nothing" is what may be done.
PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int is(const char* what, const char* one) { return strcmp(what, one) == 0; }

int main(int argc, char** argv) {
  int rank, size, odd, one = 1, sum;
  int counts[3] = {1, 2, 3}, places[3] = {0, 1, 3}, all[9] = {0}, some[9] = {0}, large[9000];
  const char* what = argv[1];
  MPI_Comm pair;
  MPI_Request requests[4];
  MPI_Datatype column;
  (void)argc;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  odd = rank == 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_name(pair, "the pair");
  MPI_Barrier(pair);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  if (is(what, "root")) MPI_Bcast(all, 1, MPI_INT, odd, pair);
  if (is(what, "count")) MPI_Allreduce(all, some, 2 + odd, MPI_INT, MPI_SUM, pair);
  if (is(what, "type")) MPI_Bcast(all, 2, odd ? MPI_FLOAT : MPI_INT, 0, pair);
  if (is(what, "op")) MPI_Allreduce(all, some, 2, MPI_INT, odd ? MPI_MAX : MPI_SUM, pair);
  if (is(what, "call")) { if (odd) MPI_Barrier(pair); else MPI_Bcast(all, 1, MPI_INT, 0, pair); }
  if (is(what, "gather")) MPI_Gather(all, 1 + odd, MPI_INT, some, 1, MPI_INT, 0, pair);
  if (is(what, "gatherv"))
    MPI_Gatherv(all, rank + 1 + odd, MPI_INT, some, counts, places, MPI_INT, 2, pair);
  if (is(what, "begun")) {
    MPI_Ibcast(all, 1, MPI_INT, odd, pair, requests);
    MPI_Barrier(pair);
  }
  if (is(what, "ends")) { if (odd) MPI_Ibarrier(pair, requests); }
  if (is(what, "receives")) {
    MPI_Irecv(all, 4, MPI_INT, last, 5, pair, &requests[0]);
    MPI_Irecv(all + 3, 4, MPI_INT, last, 6, pair, &requests[1]);
  }
  if (is(what, "sends")) {
    MPI_Isend(all, 4, MPI_INT, next, 5, pair, &requests[0]);
    MPI_Recv(all + 2, 1, MPI_INT, last, 5, pair, MPI_STATUS_IGNORE);
  }
  if (is(what, "started")) {
    MPI_Send_init(all, 4, MPI_INT, next, 5, pair, &requests[0]);
    MPI_Recv_init(all, 4, MPI_INT, last, 5, pair, &requests[1]);
    MPI_Startall(2, requests);
  }
  MPI_Comm ring, sides, between;
  MPI_Win win;
  const int three[1] = {3}, closed[1] = {1};
  MPI_Cart_create(pair, 1, three, closed, 0, &ring);
  MPI_Comm_set_name(ring, "the ring");
  if (is(what, "neighbors"))
    MPI_Neighbor_allgather(all, 1 + odd, MPI_INT, some, 1, MPI_INT, ring);
  /* Rank 0 is one side, ranks 1 and 2 are the other. */
  MPI_Comm_split(pair, rank > 0, rank, &sides);
  MPI_Intercomm_create(sides, 0, pair, rank > 0 ? 0 : 1, 9, &between);
  MPI_Comm_set_name(between, "the sides");
  if (is(what, "sides"))
    MPI_Bcast(all, 1, MPI_INT, rank == 0 ? MPI_ROOT : odd, between);
  if (is(what, "amounts"))
    MPI_Allgather(all, 1 + odd, MPI_INT, some, 1, MPI_INT, between);
  MPI_Win_create(some, sizeof some, sizeof(int), MPI_INFO_NULL, pair, &win);
  MPI_Win_set_name(win, "the window");
  if (is(what, "outside")) {
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (odd) MPI_Put(all, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
  }
  if (is(what, "twice")) {
    MPI_Win_lock_all(0, win);
    MPI_Put(all, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Put(all, 2, MPI_INT, next, 1, 2, MPI_INT, win);
  }
  if (is(what, "puts")) {
    MPI_Win_fence(0, win);
    if (rank != 2) MPI_Put(all, 2, MPI_INT, 2, rank, 2, MPI_INT, win);
  }
  if (is(what, "open")) {
    MPI_Win_fence(0, win);
    if (odd) MPI_Get(all, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_free(&win);
  }
  if (is(what, "passed")) {
    if (odd) MPI_Barrier(pair);
    MPI_Win_fence(0, win);
  }
  if (is(what, "missed") && !odd) MPI_Win_fence(0, win);
  if (is(what, "puts")) MPI_Win_fence(0, win);
  if (is(what, "lost")) {
    MPI_Group group;
    MPI_Op op;
    MPI_Comm_free(&ring);
    MPI_Comm_free(&sides);
    MPI_Comm_free(&between);
    MPI_Win_free(&win);
    MPI_Comm_group(pair, &group);
    MPI_Type_contiguous(2, MPI_INT, &column);
    if (odd) MPI_Op_create((MPI_User_function*)0 + 1, 1, &op);
    MPI_Win_create(all, sizeof all, 1, MPI_INFO_NULL, pair, &win);
    MPI_Isend(&one, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(&sum, 1, MPI_INT, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
  }
  MPI_Group members, origins, targets;
  const int first[2] = {0, 1}, third[1] = {2};
  MPI_Comm_group(pair, &members);
  MPI_Group_incl(members, 2, first, &origins);
  MPI_Group_incl(members, 1, third, &targets);
  if (is(what, "shared")) {
    if (rank != 2) {
      MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
      MPI_Put(all, 2, MPI_INT, 2, rank, 2, MPI_INT, win);
    }
    MPI_Barrier(pair);
    if (rank != 2) MPI_Win_unlock(2, win);
  }
  if (is(what, "flushed")) {
    MPI_Win_lock_all(0, win);
    if (rank == 0) MPI_Get(all, 2, MPI_INT, 2, 0, 2, MPI_INT, win);
    if (rank == 0) MPI_Win_flush(2, win);
    MPI_Barrier(pair);
    if (odd) MPI_Put(all, 2, MPI_INT, 2, 0, 2, MPI_INT, win);
    if (rank == 0) MPI_Accumulate(&one, 1, MPI_INT, 2, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Barrier(pair);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
  }
  if (is(what, "unread")) {
    MPI_Win_lock_all(0, win);
    if (odd) MPI_Get(all, 2, MPI_INT, 2, 0, 2, MPI_INT, win);
    if (odd) MPI_Send(all + 1, 1, MPI_INT, 0, 6, pair);
  }
  if (is(what, "exposed")) {
    if (rank == 2) {
      MPI_Win_post(origins, 0, win);
      MPI_Win_wait(win);
    } else {
      MPI_Win_start(targets, 0, win);
      MPI_Put(all, 2, MPI_INT, 2, rank, 2, MPI_INT, win);
      MPI_Win_complete(win);
    }
  }
  if (is(what, "nothing")) {
    /* Columns of a matrix lie between each other; sends may share a buffer. */
    MPI_Type_vector(3, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(all, 1, column, last, 1, pair, &requests[0]);
    MPI_Irecv(all + 1, 1, column, last, 2, pair, &requests[1]);
    MPI_Isend(some, 1, column, next, 1, pair, &requests[2]);
    MPI_Isend(some, 3, MPI_INT, next, 2, pair, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Send_init(some, 1, MPI_INT, next, 3, pair, &requests[0]);
    MPI_Recv_init(all, 1, MPI_INT, last, 3, pair, &requests[1]);
    for (int i = 0; i < 3; ++i) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Irecv(large, 9000, MPI_INT, last, 8, pair, &requests[0]);
    MPI_Issend(large, 0, MPI_INT, next, 8, pair, &requests[1]);
    MPI_Irecv(all, 1, MPI_INT, MPI_PROC_NULL, 0, pair, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &one, &one, 1, MPI_INT, MPI_SUM, 0, pair);
    MPI_Gatherv(all, rank + 1, MPI_INT, some, counts, places, MPI_INT, 2, pair);
    MPI_Scatterv(some, counts, places, MPI_INT, all, rank + 1, MPI_INT, 2, pair);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, some, counts, places, MPI_INT, pair);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, some, 1, MPI_INT, pair);
    MPI_Reduce_scatter(some, all, counts, MPI_INT, MPI_SUM, pair);
    MPI_Bcast(all, rank == 0 ? 1 : 3, rank == 0 ? column : MPI_INT, 0, pair);
    /* Begun in one order, waited for in another, with a message between. */
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, pair, &requests[0]);
    if (rank == 0) MPI_Send(&one, 0, MPI_INT, 1, 7, pair);
    if (rank == 1) MPI_Recv(&one, 0, MPI_INT, 0, 7, pair, MPI_STATUS_IGNORE);
    MPI_Ibarrier(pair, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    /* Neighbors, both groups, one-sided. */
    const int two[2] = {1, 1};
    MPI_Neighbor_alltoall(all, 1, MPI_INT, some, 1, MPI_INT, ring);
    MPI_Ineighbor_allgather(all, 1, MPI_INT, some, 1, MPI_INT, ring, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgatherv(all, 1, MPI_INT, some, two, places, MPI_INT, ring);
    MPI_Bcast(all, 1, MPI_INT, rank == 0 ? 1 : odd ? MPI_PROC_NULL : MPI_ROOT, between);
    MPI_Allgather(all, rank == 0 ? 2 : 1, MPI_INT, some, rank == 0 ? 1 : 2, MPI_INT, between);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(all, 1, MPI_INT, next, 2 * rank, 1, MPI_INT, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(all, 3, MPI_INT, 0, 0, 3, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2; ++i) {
      MPI_Get(all, 1, MPI_INT, next, rank, 1, MPI_INT, win);
      MPI_Win_flush_local(next, win);
      MPI_Put(all, 1, MPI_INT, next, rank, 1, MPI_INT, win);
      MPI_Win_flush(next, win);
    }
    MPI_Win_unlock_all(win);
    /* Epochs in turn: by an exclusive lock, by a flush and a message, by post. */
    for (int i = 0; i < 20; ++i) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      MPI_Get(all, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
      MPI_Win_flush_local(0, win);
      MPI_Put(all, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
      MPI_Win_unlock(0, win);
    }
    MPI_Barrier(pair);
    MPI_Win_lock_all(0, win);
    if (rank > 0) MPI_Recv(&one, 0, MPI_INT, rank - 1, 2, pair, MPI_STATUS_IGNORE);
    MPI_Put(all, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
    MPI_Win_flush(0, win);
    if (rank < 2) MPI_Send(&one, 0, MPI_INT, rank + 1, 2, pair);
    MPI_Fetch_and_op(&one, &sum, MPI_INT, 0, 4, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    for (int i = 0; i < 2; ++i) {
      if (rank == 2) {
        MPI_Group_free(&origins);
        MPI_Group_incl(members, 1, &first[i], &origins);
        MPI_Win_post(origins, 0, win);
        MPI_Win_wait(win);
      } else if (rank == i) {
        MPI_Win_start(targets, 0, win);
        MPI_Put(all, 2, MPI_INT, 2, 0, 2, MPI_INT, win);
        MPI_Win_complete(win);
      }
    }
    MPI_Win_fence(0, win);
  }
  MPI_Group_free(&members);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Win_free(&win);
  MPI_Comm_free(&between);
  MPI_Comm_free(&sides);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
"""
# By what goes wrong: what is said. The pair's collectives begin with a barrier.
ENDS = {
    "root": "MPI_Bcast (collective 2 of the pair): root is 0 on ranks 0, 2 and 1 on rank 1",
    "count": "MPI_Allreduce (collective 2 of the pair): the data's size is 8 bytes on ranks 0, 2 "
             "and 12 bytes on rank 1",
    "type": "MPI_Bcast (collective 2 of the pair): datatype is MPI_INT on ranks 0, 2 and MPI_FLOAT "
            "on rank 1",
    "op": "MPI_Allreduce (collective 2 of the pair): op is MPI_SUM on ranks 0, 2 and MPI_MAX on "
          "rank 1",
    "call": "collective 2 of the pair is MPI_Bcast on ranks 0, 2 and MPI_Barrier on rank 1",
    "gather": "MPI_Gather (collective 2 of the pair): rank 1 sends 8 bytes to rank 0, which takes "
              "4",
    "gatherv": "MPI_Gatherv (collective 2 of the pair): rank 1 sends 12 bytes to rank 2, which "
               "takes 8",
    "begun": "MPI_Ibcast (collective 2 of the pair): root is 0 on ranks 0, 2 and 1 on rank 1",
    "ends": "collective 2 of the pair is MPI_Cart_create on ranks 0, 2 and MPI_Ibarrier on rank 1",
    "neighbors": "MPI_Neighbor_allgather (collective 1 of the ring): rank 1 sends 8 bytes to rank "
                 "0, which takes 4 (and so differ 1 pairs of ranks more)",
    "sides": "MPI_Bcast (collective 1 of the sides): root is MPI_ROOT on rank 0 of the job, 1 on "
             "rank 1 of the job and 0 on rank 2 of the job; one rank gives MPI_ROOT",
    "amounts": "MPI_Allgather (collective 1 of the sides): rank 1 of the job sends 8 bytes to rank "
               "0 of the job, which takes 4",
    "puts": "MPI_Win_fence (collective 2 of the window): rank 0 puts to bytes 4-7 of rank 2, and "
            "rank 1 puts to the same in one epoch",
    "shared": "MPI_Win_free (collective 1 of the window): rank 0 puts to bytes 4-7 of rank 2, and "
              "rank 1 puts to the same at the same time: neither has flushed or unlocked before "
              "the other begins",
    "flushed": "MPI_Win_fence (collective 1 of the window): rank 1 puts to bytes 4-7 of rank 2, "
               "and rank 0 accumulates to the same at the same time",
    "exposed": "MPI_Win_free (collective 1 of the window): rank 0 puts to bytes 4-7 of rank 2, and "
               "rank 1 puts to the same in one epoch of MPI_Win_post",
    "missed": "collective 1 of the window is MPI_Win_fence on ranks 0, 2 and MPI_Win_free on rank "
              "1",
}
WINDOWS = {
    "outside": "MPI_Put failed on rank 1 of .*: no epoch is open to rank 2",
    "twice": r"MPI_Put failed on rank [012] of .*: --check: this rank puts to bytes 4-7 of rank "
             r"[012] and puts to the same in one epoch",
    "open": r"MPI_Win_free failed on rank 1 of .*: --check: no fence, or other call, has ended the "
            r"epoch of an access to rank 0",
}
# Rank 2 may have come by then, or not.
PASSED = (r"--check: MPI_Win_fence \(collective 1 of the window\) is entered by rank(s 0, 2| 0), "
          r"but rank 1 waits in MPI_Barrier \(collective 5 of the pair\), which rank 0 has not "
          r"entered")
OVERLAPS = {
    "unread": r"MPI_Send failed on rank 1 of the pair: --check: buf overlaps by 4 bytes the buffer "
              r"of an access to rank 2 of the window that no flush or end of its epoch has "
              r"completed",
    "receives": r"MPI_Irecv failed on rank [012] of the pair: --check: buf overlaps by 4 bytes buf "
                r"of MPI_Irecv from rank [012], tag 5, the pair, which is under way",
    "sends": r"MPI_Recv failed on rank [012] of the pair: --check: buf overlaps by 4 bytes buf of "
             r"MPI_Isend to rank [012], tag 5, the pair, which is under way",
    "started": r"MPI_Startall failed on rank [012] of MPI_COMM_SELF: MPI_Recv_init from rank "
               r"[012], tag 5, the pair, --check: buf overlaps by 16 bytes buf of MPI_Send_init to "
               r"rank [012], tag 5, the pair, which is under way",
}
LOST = """\
fairlead: --check: MPI_Finalize on ranks 0-2: not given back: communicator of MPI_Comm_dup \
(the pair)
fairlead: --check: MPI_Finalize on ranks 0-2: not given back: datatype of MPI_Type_contiguous
fairlead: --check: MPI_Finalize on ranks 0-2: not given back: group of MPI_Comm_group
fairlead: --check: MPI_Finalize on rank 1: not given back: operation of MPI_Op_create
fairlead: --check: MPI_Finalize on rank 1: not given back: request of MPI_Isend to rank 2, tag 4, \
MPI_COMM_WORLD
fairlead: --check: MPI_Finalize on ranks 0-2: not given back: window of MPI_Win_create
"""


class Check(OfOneProgram):
    PROGRAM = PROGRAM

    def run_program(self, what, *options, **more):
        return self.run_job(*options, arguments=(what,), **more)

    def test_collectives_that_differ(self):
        for what, text in ENDS.items():
            with self.subTest(what=what):
                done = self.run_program(what, "--check")
                self.assertNotIn(done.returncode, (0, 124))
                self.assertIn("--check: " + text, done.stderr)
        done = self.run_program("passed", "--check")
        self.assertNotIn(done.returncode, (0, 124))
        self.assertRegex(done.stderr, PASSED)

    def test_accesses_that_do_not_go_together(self):
        for what, text in WINDOWS.items():
            with self.subTest(what=what):
                done = self.run_program(what, "--check")
                self.assertNotIn(done.returncode, (0, 124))
                self.assertRegex(done.stderr, text)

    def test_buffers_that_overlap(self):
        for what, text in OVERLAPS.items():
            with self.subTest(what=what):
                done = self.run_program(what, "--check")
                self.assertNotIn(done.returncode, (0, 124))
                self.assertRegex(done.stderr, text)

    def test_everywhere(self):
        for place in MPI_PLACES:
            with self.subTest(place=place):
                done = self.run_program("nothing", "--on", *place, "--check",
                                        "--profile=profile.json")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                done = self.run_program("root", "--on", *place, "--check")
                self.assertNotIn(done.returncode, (0, 124))
                self.assertIn("--check: " + ENDS["root"], done.stderr)

    def test_handles_that_are_lost(self):
        for more in ((["--check"], {}), ([], {"FAIRLEAD_MPI_CHECK": "1"})):
            done = self.run_program("lost", *more[0], **more[1])
            self.assertEqual(done.returncode, 0, done.stderr)
            # Expect: each once, for all ranks that lost it; the request on each, as peers differ.
            for line in LOST.splitlines():
                self.assertEqual(done.stderr.splitlines().count(line), 1, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 8, done.stderr)

    def test_off(self):
        done = self.run_program("nothing", FAIRLEAD_MPI_CHECK="0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
