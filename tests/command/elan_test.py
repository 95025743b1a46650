"""qsnet-es40: what the numbers of its interface do."""
import unittest

from command import BIN, fairlead, json_lines


def put(*options, more=()):
    """MBps of a put of 64 KiB; times are virtual, so that runs are equal."""
    answer = fairlead("run", "-n", "4", "--on", "qsnet-es40", *options, str(BIN / "elanbench"),
                      "--test", "ping", "--from", "65536", "--to", "65536", "--rounds", "5", *more,
                      "--json")
    (line,) = json_lines(answer.stdout)
    return line["MBps"]


class Elan(unittest.TestCase):
    def test_the_interfaces_memory_bounds_what_lies_there(self):
        slow = put("--set", "ni.memory_MBps=100")
        self.assertLess(slow, 100)
        self.assertGreater(slow, 90)
        # Expect: memory faster than a link adds nothing to a put that has it alone.
        self.assertEqual(put(), put("--set", "ni.memory_MBps=0"))
        # Expect: nor does a slow one to what lies in main memory.
        main = ("--main",)
        self.assertEqual(put(more=main), put("--set", "ni.memory_MBps=100", more=main))


if __name__ == "__main__":
    unittest.main()
