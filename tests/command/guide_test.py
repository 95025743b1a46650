"""The user guide's program compiles, and each command of its sh blocks runs as written."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import SOURCE, environment

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    def test_guide(self):
        blocks = BLOCK.findall((SOURCE / "docs/user-guide.md").read_text())
        files = [(name, text) for _, name, text in blocks if name]
        commands = [line for kind, _, text in blocks if kind == "sh"
                    for line in text.splitlines() if line]
        # Expect: there is something to test.
        self.assertTrue(files)
        self.assertGreater(len(commands), 8)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files:
                # Expect: a first program below 60 lines.
                self.assertLess(len(text.splitlines()), 60)
                (Path(folder) / name).write_text(text)
            for command in commands:
                done = subprocess.run(command, shell=True, cwd=folder, env=environment(),
                                      capture_output=True, text=True, timeout=120, check=False)
                # Expect: success without a word of complaint.
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
                self.assertNotIn("fairlead:", done.stderr, command)


if __name__ == "__main__":
    unittest.main()
