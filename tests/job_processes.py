"""What a test of jobs can see of their processes from outside: those whose environment carries the
test's mark, read from /proc; and what the ranks of tests/launchers/rank.c must have said."""
import os
import re
import time
from pathlib import Path

MARK = "FAIRLEAD_TEST_MARK"


def members(mark):
    """Living processes whose environment carries the mark, the calling one excepted."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
        except OSError:
            pass
    return found


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    except OSError:
        return []


def text_of(output):
    """What is in a file that a job writes to. The place in the file is also the job's: to move it
    would make a rank write over what there is."""
    file = output.fileno()
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def wait_for(condition, seconds):
    """Whether the condition came to hold in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Exchange:
    """For a unittest.TestCase."""

    def check_exchange(self, ranks, text):
        # Expect: each rank once, with the right sum and bytes
        found = sorted(re.findall(r"rank (\d+) of (\d+): sum (\d+), (\d+) wrong", text))
        total = str(ranks * (ranks - 1) // 2)
        self.assertEqual(found, sorted((str(r), str(ranks), total, "0") for r in range(ranks)),
                         text)
