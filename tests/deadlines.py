"""How late is too late. On a machine that is shared a process may not run for some seconds, so a
test allows SLACK times what is promised; FAIRLEAD_TEST_SLACK=1 holds the promise itself to account,
on a quiet machine (docs/performance-diary.md, "How jobs end")."""
import os
import time

SLACK = float(os.environ.get("FAIRLEAD_TEST_SLACK", "6"))
GONE_WITHIN_S = 1.0  # after the first failure: every process of the job


class Deadlines:
    """For a unittest.TestCase."""

    def check_in_time(self, begin, seconds, text=None):
        """Since `begin`, by time.monotonic(). `text`: what the job said, should it be too late."""
        self.assertLess(time.monotonic() - begin, seconds * SLACK, text)
