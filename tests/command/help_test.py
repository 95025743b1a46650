"""--help of every command teaches by example, and the manual page says what it says."""
import re
import shlex
import unittest

from command import COMMANDS, SOURCE, fairlead


def options_in(help_text):
    """Names in the option lines of a help text: the two leftmost columns."""
    names = set()
    for line in help_text.splitlines():
        match = re.match(r"^  (-\S+)", line)
        if match:
            names |= set(re.findall(r"(?<!\w)--?[a-z][a-z-]*", match.group(1)))
    return names


def examples_in(help_text):
    after = help_text.partition("Examples:")[2]
    return [re.split(r"\s{3,}", line.strip())[0] for line in after.splitlines()
            if line.startswith("  ") and "fairlead " in line]


def command_of(words):
    grouped = words[1] in ("bench", "trace") and not words[2].startswith("-")
    return words[1:3] if grouped else words[1:2]


class Help(unittest.TestCase):
    def test_every_command_has_examples(self):
        for command in COMMANDS:
            answer = fairlead(*command, "--help")
            # Expect: success, on the standard output, with at least one example of this command.
            self.assertEqual(answer.returncode, 0, answer.stderr)
            mine = [e for e in examples_in(answer.stdout)
                    if " ".join(["fairlead", *command]) in e]
            self.assertTrue(mine, f"{command}: no example in\n{answer.stdout}")

    def test_examples_use_options_that_exist(self):
        known = {tuple(c): options_in(fairlead(*c, "--help").stdout) for c in COMMANDS}
        for command in COMMANDS:
            for example in examples_in(fairlead(*command, "--help").stdout):
                words = shlex.split(example)
                words = words[words.index("fairlead"):]
                if words[1] == "COMMAND":
                    continue
                before_program = [w for w in words[1:]]
                if "./prog" in before_program:
                    before_program = before_program[:before_program.index("./prog")]
                used = {w.partition("=")[0] for w in before_program if w.startswith("-")}
                # Expect: an option of that very command.
                self.assertLessEqual(used, known[tuple(command_of(words))], example)

    def test_lines_fit(self):
        for command in COMMANDS:
            for line in fairlead(*command, "--help").stdout.splitlines():
                # Expect: a terminal of 100 columns is enough.
                self.assertLessEqual(len(line), 100, line)

    def test_options_are_in_groups(self):
        for command, own in ((["run"], None), (["compare"], "--repeat"),
                             (["bench", "latency"], "--sizes")):
            text = fairlead(*command, "--help").stdout
            groups = re.findall(r"^([A-Z][A-Za-z ]+):$", text, re.MULTILINE)
            self.assertEqual(groups[:6], ["Options", "Job", "Real runs", "Faults", "Modelled runs",
                                          "Programming systems"] if command[0] == "bench" else
                             ["Options", "Job", "Real runs", "Faults", "Modelled runs",
                              groups[5]], text)
            self.assertIn("Output", groups)
            if own is not None:
                # Expect: what the command adds is on top.
                self.assertLess(text.index(own), text.index("\nJob:"))

    def test_tables_fit(self):
        for command in ("info", "platforms"):
            for line in fairlead(command).stdout.splitlines():
                # Expect: a terminal of 100 columns is enough, but for names that do not break.
                self.assertTrue(len(line) <= 100 or max(map(len, line.split())) > 40, line)

    def test_manual_page_names_every_option(self):
        manual = (SOURCE / "docs/man/fairlead.1").read_text().replace("\\-", "-")
        for command in COMMANDS:
            for name in options_in(fairlead(*command, "--help").stdout):
                # Expect: the manual page has it.
                self.assertRegex(manual, re.escape(name) + r"(?![\w-])", f"{command} {name}")

    def test_version(self):
        # Expect: name and number.
        self.assertRegex(fairlead("--version").stdout, r"^fairlead \d+\.\d+\.\d+ \(\w+\)")


if __name__ == "__main__":
    unittest.main()
