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
has set `MPI_ERRORS_RETURN`. Calls on files return the class, as the handler of files does at
first; those of the tool interface (`MPI_T_`) return `MPI_T_ERR_NOT_SUPPORTED`, as they have no
error handler.

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
| `panda` | messages and broadcasts of Panda-ST, as in the LCI paper |
| `rsm` | stores at the receiver, as in the Sun MPI paper ([details](rsm.md#mpi-by-stores)) |
| `tports` | messages of QsNet's Tports, which match them; long ones are got from memory to memory |
| `auto` | by pair of ranks, for the whole job: `rsm` where stores are hardware, else `direct` |

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
## Public programs that were run

Built unmodified with the wrappers, outside this repository; what they check of their results, on
27 November 2026 on a machine of two processors that was busy otherwise:
`fairlead run -n N --on PLACE PROGRAM`.

| program | ranks | places | its own check |
| --- | --- | --- | --- |
| NPB 3.4.1 IS, EP, CG, MG, class S | 2, 4, 8 | `shm`, `udp` | all successful |
| NPB 3.4.1 IS, EP, CG, class S | 16 | `myrinet-p3` | all successful |
| NPB 3.4.1 MG, class S | 16 | `myrinet-p3` | not known: ended after 85 s of real time, not done |
| LULESH 2, `-s 8 -i 20` | 8 | `shm`, `udp` | symmetric to 1.5e-11; the same energy |

NPB's Fortran needs gfortran's `-fallow-argument-mismatch`. LULESH wants a cube of ranks. OSU's and
Intel's benchmarks, HPCG and class W were not run yet.
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
