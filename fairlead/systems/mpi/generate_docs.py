"""docs/mpi.md from the table."""
import itertools
import textwrap

COLUMNS_MAX = 100

INTRO = """\
# MPI: which calls there are

<!-- Written by fairlead/systems/mpi/generate.py from calls.txt: change it there. -->

[mpi.h](../fairlead/systems/mpi/mpi.h) declares, and `libmpi_abi.so.1` exports, all of the MPI 5.0
standard binary interface: {names} functions, of which {large} are the `_c` forms for counts of
64 bits, and each again as `PMPI_` for tools. {yes} of the {calls} calls below do what the standard
says, up to what the last column tells. The other {no} are exported and answer; {later} of them
do not come with the next steps.

A call that is not there answers `MPI_ERR_UNSUPPORTED_OPERATION` through the error handler of its
communicator, else of `MPI_COMM_SELF`, which ends the job with the call's name unless the program
has set `MPI_ERRORS_RETURN`. Calls about files return the class, `MPI_File_open` too, as the handler
of files does at first, and so does `MPI_Session_init` with `MPI_ERRORS_RETURN`; those of the tool
interface (`MPI_T_`) return `MPI_T_ERR_NOT_SUPPORTED`, as they have no error handler. A program that
asks whether it has these, and can do without, goes on.

Fortran has the same calls, as `mpif.h`, `use mpi` and `use mpi_f08`
([user guide](user-guide.md#mpi-for-fortran)), without `MPI_T_` and the calls that turn handles into
integers. C programs convert handles with `MPI_Comm_c2f` and the like of mpi.h, and statuses with
`MPI_Status_c2f` and the like, which are in `libfairlead_mpifort`.

What carries the messages is a device, chosen for a whole job (`--mpi-device NAME`, or the
variable `FAIRLEAD_MPI_DEVICE`). Every call works with each of them. Threads may call at once
(`MPI_THREAD_MULTIPLE`) with `direct` only, else one at a time (`MPI_THREAD_SERIALIZED`).

| device | how messages travel |
| --- | --- |
| `direct`, the default | packets of the network, and copies from memory to memory |
| `panda` | messages of Panda-ST, as in the LCI paper; puts on I-rcpy and VIA |
| `rsm` | stores at the receiver, as in the Sun MPI paper ([details](rsm.md#mpi-by-stores)) |
| `tports` | messages of QsNet's Tports, which match them; long ones are got from memory to memory |
| `auto` | by pair of ranks, for the whole job: `rsm` where stores are hardware, else `direct` |

A collective that was begun (`MPI_Ibcast`, `MPI_Start`) goes on while its rank computes, with the
`direct` device in the real world: by a thread of the library's, which exists from the first one on
that is not over when its call returns. It does not under `MPI_THREAD_MULTIPLE`, nor where it has an
operation of the program's, which runs in calls only. Where the program did not compute for
50 us, collectives go on in calls only until it does (one in eighteen is looked at).

Where several ranks share a node and others do not, `MPI_Barrier`, `MPI_Bcast`, `MPI_Reduce`,
`MPI_Allreduce`, `MPI_Allgather`, `MPI_Gather` and `MPI_Scatter`, in all their forms, go first in
each node, then between one rank of each, then in each node again; long vectors go around a ring
from node to node, and long blocks go straight to their ranks (`--explain=collectives` has the
sizes). So do blocks of different lengths (`MPI_Gatherv` and the like), as only their two ranks know
how long they are; and those of all-to-alls, which lose by it where a network is as quick as the
way in a node. Every communicator knows which of its ranks share a node.
An operation that does not commute is combined in rank order: where the ranks of a node do not
follow each other in the communicator, its operands travel as if each rank had a node of its own.
The bits of a floating-point sum depend on which ranks share a node; they are the same in every run.

`fairlead run --profile` measures the calls of a program, `--check` looks for what is wrong with
them ([user guide](user-guide.md#where-an-mpi-programs-time-goes)); under another launcher the
variables `FAIRLEAD_MPI_PROFILE` and `FAIRLEAD_MPI_CHECK` do. Both see what goes through the `MPI_`
and `PMPI_` entry points from `MPI_Init` to `MPI_Finalize`, but for calls that only look at a status
or turn handles into integers. Where neither is asked for, an entry point has one load and one
branch for them (3 instructions of an `MPI_Send` of 8 bytes, counted by callgrind).

States: **yes**; **no**: not yet; **later**: not yet, and not in the next steps. The `_c` form,
where there is one, has the state of its call.
"""

PROGRAMS = """
## Public suites and programs that were run

Built unmodified outside this repository, on 27 to 29 November 2026 on a machine of two processors
that was busy otherwise: `fairlead run -n N --on PLACE PROGRAM`. What counts is what they check of
their results.

Suites: how many of their tests pass.

| suite | ranks | places | passes |
| --- | --- | --- | --- |
| MPICH test/mpi (6a79bf65), `pt2pt` | 1 to 5 | `shm` | 58 of 58 |
| the same, `coll` | 1 to 5 | `shm` | 167 of 169 |
| the same, `datatype` | 1 to 4 | `shm` | 65 of 66 |
| the same, `comm` | 1 to 4, 33 | `shm` | 46 of 46 |
| the same, `group`, `attr`, `topo` | 1 to 8 | `shm` | 46 of 46 |
| the same, `info`, `init`, `errhan` | 1 to 4 | `shm` | 25 of 28 |
| the same, `rma` | 1 to 5 | `shm` | 198 of 198 |
| the same, `threads` | 1 to 4 | `shm` | 63 of 65 |
| the same, `part`, `threads/part` | 2 | `shm` | 47 of 48 |
| the same, derived types of its `dtpools`: `attr`, `coll`, `rma` | 1 to 8 | `shm` | 113 of 115 |
| the same, `topo`, `group`, `attr`, 34 of other families | 1 to 8 | `myrinet-p3` | 77 of 80 |
| the same, `topo`, `group`, `attr`, `info`, `part` | 1 to 8 | `udp` | 99 of 104 |
| the same, `pt2pt`; `coll` | 1 to 8 | `udp` | 58 of 58; 189 of 191 |
| the same, `rma` | 1 to 5 | `udp` | 196 of 197 |
| the same, `errors` but for files and sessions | 1 to 4 | `shm` | 51 of 57 |
| the same, Fortran: `f77` but for files and spawned processes | 1 to 5 | `shm` | 73 of 77 |
| the same, `f08` likewise | 1 to 5 | `shm` | 100 of 106 |
| IMB (46e8757), with CHECK, up to 16 KiB: MPI1, EXT | 2, 4, 8 | `shm`, `udp` | 19 of 19, 11 of 11 |
| the same, NBC | 2, 4, 8 | `shm`, `udp` | 13 of 13 |
| OSU 7.4, blocking collectives, `-c` | 2, 4, 8; 2 | `shm`; `udp` | 15 of 15 |
| OSU 7.4, other collectives, `-c` | 2 | `shm`, `udp` | 38 of 39 |
| OSU 7.4, pt2pt, `-c`, and one-sided | 2 | `shm`, `udp` | 9 of 10, 9 of 9 |
| pt2pt and one-sided, `-m 65536`, also with a link failing | 2 | `firelink` | 6 of 6, 9 of 9 |
| IMB with CHECK, up to 2 KiB: MPI1, EXT; also with a link failing | 16 | `firelink` | all, 6 of 6 |
| the same, NBC, up to 256 bytes; also with a link failing | 16 | `firelink` | 12 of 13 |
| OSU 7.4, blocking collectives, `-c -m 8:1024` | 16 | `firelink` | 15 of 15 |
| the same, nonblocking; persistent; neighbours | 16 | `firelink` | 15 of 15; 13 of 14; 10 of 10 |
| HLRS mpi-test-suite (8ce7d3d), strict, no files | 2, 4, 8; 2, 4 | `shm`; `udp` | 60 of 67 |
| IBM's tests of MPI 1 (mpoquet/ibm-mpi-tests, 6118fd1) | 1 to 8 | `shm` | 66 of 82 |
| ompi-tests-public (338c54c), partitioned | 2 | `shm` | 40 of 43 |
| the same, alltoallv; status; comm_split_type | 2, 4; 2; 2, 4 | `shm` | 96 of 96; all; all |
| BLACS tester of ScaLAPACK (1a5d08a), Fortran and C | 4 | `shm`, `udp` | none fails |
| hypre (0854739e5), 35 of its `struct`, `sstruct` and `ij`, 353 runs | 1 to 8 | `shm` | 35 of 35 |
| Boost.MPI (85fbecc) with Boost 1.74 | 1 to 24; 1 to 8 | `shm`; `udp` | 62 of 62; 53 of 53 |
| the same, 7 of them | 2 to 4 | `myrinet-p3` | 7 of 7 |
| MPL (80c3305d), C++ | 2, 4 | `shm` | 32 of 33 |
| the same | 2, 4; 4 | `udp`; `myrinet-p3` | 31 of 33 |
| p4est (8e514f6e) and libsc (69284175) | 2, 4; 2 | `shm`; `udp` | 69 of 72 |
| Global Arrays (dd403471), C, by `MPI_RMA` | 4; 2 | `shm`; `udp` | 27 of 30; 27 of 30 |
| the same, by `MPI_PROGRESS_RANK` | 4 | `shm` | 25 of 30 |
| the same, by `MPI_MULTITHREADED`, 17 of them | 2, 4; 2 | `shm`; `udp` | 15 of 17 |

Of MPICH's lists those tests were left out that MPICH marks as failing itself (`xfail`: cancelled
sends) or as not the standard's (`strict=false`), and those that only set its variables; tests for
more ranks than five ran with five where they let themselves. What does not pass:

- `coll/opprod`, `coll/opsum`, `datatype/typename` call `MPI_Errhandler_set`, which MPI 3 removed
  and the binary interface does not have.
- `info/infocreateenv`: `MPI_Info_create_env` knows less before `MPI_Init` than after it.
- `init/timeout` tests MPICH's mpiexec; `errhan/sessioncall` and `threads/init/mult_session` need
  sessions, `threads/mpi_t` the tool interface, which are not there.
- `rma/rma_contig` (10,000 rounds) did not end within 300 s on `udp` beside other programs, with
  100 and 1,000 rounds it passes; on `shm` it took 116 s there. Nearly all of that time is its
  accumulates of up to 2 MiB. With 60 others on the machine `epochtest` and `putpscw1` with 65,530
  integers and doubles did not end within 60 s.
- `coll/gather_big`, `coll/coll_large` and a second run of `rma/win_large_shm` want 4 GB and more
  for each rank, and were not run on `udp`.
- `attr/attrerr` and two like it want the null handle from a copy that failed, unless they are built
  in the suite's strict mode, as those on `shm` were; here the variable stays as it is.
- `part/nonblocking_pready` sends nothing of `MPI_DATATYPE_NULL` to a rank, which is an error here.
- `errors/pt2pt/truncmsg2` wants an error where a message ends within an element of the receiver's
  type; this library does not look for that.
- `errors/comm/comm_create_nullarg` and three like it want `MPI_COMM_WORLD`'s handler to hear of a
  null pointer in a call on another communicator, `errors/attr/keyvalmis` of a wrong key in a call
  on a window; here that object's own handler hears it, as the standard says.
- Fortran: `typecntsf` and `attrmpi1f08` use constants and calls that MPI 3 removed, `allctypesf`
  and `allctypesf08` look for `MPI_LB`; `infocrenvf` and `infocrenvf90` want keys of `MPI_INFO_ENV`
  that may be missing; `profile1f` and `profile1f90` define `MPI_SEND` where `mpif.h` or a module
  declares it; `subarray/test14` and `test15` need `MPI_SUBARRAYS_SUPPORTED`.
- IMB's `Ireduce_scatter_pure` expects of every rank what rank 0 gets (`pos = 0`, where the test
  that overlaps has the rank's own place); where its time limit ends it before it has sent anything
  (`-time 1` on `shm`), it counts as passed.
- OSU's `osu_allreduce_persistent -c` reduces other buffers than it checks. Its
  `osu_latency_mt -t 2:2 -c` finds every size right, and then its ranks end without `MPI_Finalize`.
- HLRS: `Get_version` knows no version above 3.1. Its threaded tests 61 to 66 do not pass: the first
  wants the length of the message in the status of its send, which the standard leaves open; one
  sends between copies of a communicator, others count the thread of `main` as number -1 or need
  four threads; the partitioned ones compare the gaps of a struct, which no message carries.
  `MPI_TYPE_MIX_LB_UB` and the duplicates were left out (`-d`): with MPI 3 and later its table of
  types is out of step.
- IBM's, built with macros for the names that MPI 3 removed, and its requests and operations
  declared as such in seven programs that have them in an `int`: `attr`, `errstr`, `err`, `group`
  and `zero2` want values and handles of another library, or loop until a code has no string;
  `testany`, `testsome`, `waitsome` and `free` want what MPI 1 said and MPI 2 does not; `isend`,
  `start` and `startall` want lengths of sends; `cancel` and two like it cancel sends; the last line
  of `graph` names neighbours that its graph does not have. Five more use `MPI_LB` or `MPI_UB`.
- ompi-tests-public: `test_free0` and `test_pready_list1` want errors for programs that are wrong
  but harmed by nothing, `test_parrived1` uses a request that it never set.
- The BLACS tester ends by `BLACS_ABORT`, before what it printed is written unless
  `GFORTRAN_UNBUFFERED_PRECONNECTED=y` is set.
- hypre's values are compared with its saved ones by `-rtol 1e-3 -atol 1e-8`, as they come from
  another machine. Left out were tests of many runs with seven and more ranks.
- MPL: `test_file` needs files. `test_communicator_exscan` changes the buffer that `MPI_Iexscan`
  sends before it waits, which shows where the bytes leave later than the call.
- p4est: `test_loadsave2`, `test_loadsave3` and libsc's `sc_test_scda` need files.
- Global Arrays: `mulmatpatchc` fails with Open MPI in the same way, and `cache_test` divides by
  zero with three ranks that compute, as there are where the fourth is for progress. The others did
  not end within 100 s on the busy machine: `testmatmultc` (73 s with two ranks on an idle one) and
  elsewhere `cache_test`, with large matrices; by a progress rank and with four also `scan_addc`,
  `scan_copyc`, `packc` or `unpackc`, which pass with two.
  By threads (`MPI_THREAD_MULTIPLE`) `nbtestc` hangs with Open MPI, too; `read_only`
  calls `MPI_Init` and then MPI from two threads, which it may not: the data are wrong here.

Programs:

| program | ranks | places | its own check |
| --- | --- | --- | --- |
| HPCG (114602d), 16 16 16 | 2, 4, 8 | `shm`, `udp` | result is VALID |
| NPB 3.4.1 IS, EP, CG, MG, classes S and W | 2, 4, 8 | `shm`, `udp` | all successful |
| NPB 3.4.1 IS, EP, CG, MG, class S | 16 | `myrinet-p3` | all successful |
| LULESH 2, `-s 8 -i 20` | 8 | `shm`, `udp` | symmetric to 1.5e-11; the same energy |
| ParRes Kernels (04248b66), MPI1, MPIRMA | 2, 4, 8; 4; 4 | `shm`; `udp`; `myrinet-p3` | valid |
| the same, MPISHM (groups of 2; of 1 on `udp`) | 2, 4, 8; 4 | `shm`; `udp` | valid |
| CloverLeaf (Fortran, 0fdb917), `clover_bm_short` | 2, 4 | `shm`, `udp` | PASSED |
| SNAP (Fortran, e7ab43d), center_src 01, 02, 03, 07 | 4, 6, 8 | `shm`, `udp` | its reference |
| AMG (3ada8a1), `-problem 1 -n 12 12 12` | 2, 4, 8 | `shm`, `udp` | 16 or 17 iterations |
| CoMD (3d48396), 12 and 20 unit cells a side | 2, 4, 8 | `shm`, `udp` | energy and atoms kept |
| miniFE (c79e0f7), 20 a side | 2, 4 | `shm`, `udp` | solution as the analytic one; residual 1e-16 |
| miniGhost (c2102b5), BSPMA and SVAF | 2, 4 | `shm`, `udp` | within its tolerance |
| the same | 4 | `myrinet-p3` | within its tolerance |
| nekbone (8b0cdf1), 4 elements a rank, order 6 | 2, 4 | `shm`, `udp` | the same residuals |
| the same | 4 | `myrinet-p3` | those of `shm` and `udp` |
| hypre, `ij -n 8 8 8 -P 2 2 1 -solver 1` | 4 | `shm`, `myrinet-p3` | the same residual |

`firelink` stands for `--on firelink --ranks-per-node 2 --mpi-device rsm` (1 for two ranks), a
failing link for `--faults down=0-link1@2ms+20ms`. NPB on `firelink` is in
[reproduction.md](reproduction.md#sun-fire-link-firelink). With 16 ranks each benchmark of a suite
was a run of its own, of few iterations, as a process a rank takes its time in the model:

```console
$ fairlead run -n 16 --ranks-per-node 2 --on firelink --mpi-device rsm \\
    IMB-EXT Window -npmin 16 -iter 2 -msglog 3:11 -time 1
$ fairlead run -n 16 --ranks-per-node 2 --on firelink --mpi-device rsm \\
    osu_alltoall -c -i 2 -x 1 -m 8:1024
```

IMB's EXT is slow so and does not hang: `Window`, which makes and frees a window a step, took 2.5
minutes, `Accumulate` 1.7, the others seconds.

`--check` with the kernels, AMG, CoMD and SNAP (4 ranks, `shm`) names handles that these programs
do not give back, and nothing else; `--profile` ends as well. With hypre's `ij`, miniGhost, p4est
and the tests of Boost.MPI (4 ranks, `shm`) it names handles or nothing. In two others it finds what
is wrong: miniFE sends from elements of `tmp_buffer` that a receive under way may write
(`make_local_matrix.hpp`, line 266), and MPL's `iscatterv` passes `MPI_IN_PLACE` where a rank sends
nothing, so that `MPI_Ialltoallw` sends what that rank is to receive.

miniGhost's `main.c` calls `MPI_Errhandler_set`, which MPI 3 removed: it was built with a macro for
that name. NPB's Fortran needs gfortran's `-fallow-argument-mismatch`. LULESH wants a cube of ranks.

mpi4py (7c8dac2c) builds unmodified. Of the modules of its tests these 28 passed with one rank:
comm, doc, environ, grequest, group, handle, info, mpiabi, mpiapi, mpimem, msgspec, msgzero,
objmodel, op, p2p_buf, p2p_buf_matched, p2p_obj, p2p_obj_matched, pack, request, rma, rma_nb,
status, threads, toplevel, util_dtlib, util_pkl5, win. p2p_buf_part passed with one and with two.
With two ranks on `shm` these passed, too: attributes, all of cco, comm, comm_inter, comm_topo,
group, op, all of p2p, pack, request, rma, rma_nb, threads, util, win. Those of files, sessions and
spawned processes cannot.
"""


def paragraph(notes):
    """Notes as text of lines that fit."""
    return "\n".join(textwrap.wrap(" ".join(notes), COLUMNS_MAX, break_long_words=False,
                                   break_on_hyphens=False)) + "\n"


def row(call, remarks):
    """A line of the table. A deviation that is too long for it is numbered, and joins `remarks`."""
    form = "`_c`" if call.has_large else ""
    text = f"| `MPI_{call.name}` | {form} | {call.state} | {' '.join(call.notes)} |\n"
    if len(text) <= COLUMNS_MAX + 1:
        return text
    remarks.append(call.notes)
    return f"| `MPI_{call.name}` | {form} | {call.state} | ({len(remarks)}) |\n"


def section(heading, calls):
    """The calls of a heading as a table, with what stands before and behind it."""
    text = f"\n## {heading.text}\n" + (paragraph(heading.notes) if heading.notes else "")
    text += "\n| call | form | state | deviation |\n| --- | --- | --- | --- |\n"
    remarks = []
    text += "".join(row(call, remarks) for call in calls)
    for number, notes in enumerate(remarks, 1):
        text += "\n" + paragraph([f"({number})"] + notes)
    return text


def docs(calls):
    count = {state: sum(call.state == state for call in calls) for state in ("yes", "no", "later")}
    text = INTRO.format(names=sum(1 + call.has_large for call in calls),
                        large=sum(call.has_large for call in calls), calls=len(calls),
                        yes=count["yes"], no=count["no"] + count["later"], later=count["later"])
    for heading, below in itertools.groupby(calls, key=lambda call: call.heading):
        text += section(heading, below)
    return text + PROGRAMS
