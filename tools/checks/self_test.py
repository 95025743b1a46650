#!/usr/bin/env python3
"""The checks find what they are for: each test builds a small tree with one fault in it."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import check_headers  # noqa: E402
import check_layers  # noqa: E402
import check_style  # noqa: E402
from checks import common  # noqa: E402


TREES = []


def tearDownModule():
    for directory in TREES:
        directory.cleanup()


class Tree:
    def __init__(self, files):
        self.directory = tempfile.TemporaryDirectory()
        TREES.append(self.directory)
        self.root = Path(self.directory.name)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def layer_faults(name, *targets):
    tree = Tree({name: "".join(f'#include "{t}"\n' for t in targets)})
    return check_layers.check(tree.root)


class Layers(unittest.TestCase):
    def test_allowed(self):
        for name, target in [
                ("fairlead/sim/a.h", "fairlead/base/units.h"),
                ("fairlead/hw/a.cc", "fairlead/sim/event_queue.h"),
                ("fairlead/fabric/model/a.cc", "fairlead/hw/host.h"),
                ("fairlead/lci/a.cc", "fairlead/fabric/model/nic.h"),
                ("fairlead/lci/a_test.cc", "fairlead/hw/host.h"),
                ("fairlead/systems/mpi/a.cc", "fairlead/systems/panda/panda.h"),
                ("fairlead/systems/mpi/p2p/a.cc", "fairlead/systems/mpi/comm.h"),
                ("apps/sor/a.cc", "fairlead/systems/mpi/mpi.h"),
                ("apps/sor/a.cc", "apps/sor/grid.h"),
                ("tools/fairlead/a.cc", "fairlead/hw/host.h")]:
            self.assertEqual(layer_faults(name, target), [], f"{name} -> {target}")

    def test_forbidden(self):
        for name, target in [
                ("fairlead/base/a.h", "fairlead/sim/clock.h"),
                ("fairlead/proto/a.h", "fairlead/lci/port.h"),
                ("fairlead/proto/a_test.cc", "fairlead/lci/port.h"),
                ("fairlead/sim/a.h", "fairlead/hw/host.h"),
                ("fairlead/fabric/nic.h", "fairlead/sim/clock.h"),
                ("fairlead/fabric/shm/a.cc", "fairlead/hw/host.h"),
                ("fairlead/lci/a.cc", "fairlead/sim/clock.h"),
                ("fairlead/lci/a.cc", "fairlead/run/world.h"),
                ("fairlead/systems/mpi/a.cc", "fairlead/fabric/nic.h"),
                ("fairlead/systems/am/a.cc", "fairlead/systems/mpi/mpi.h"),
                ("fairlead/systems/mpi/a.cc", "fairlead/systems/panda/group.h"),
                ("fairlead/strange/a.h", "fairlead/base/units.h"),
                ("fairlead/run/a.cc", "tools/fairlead/command.h"),
                ("apps/sor/a.cc", "fairlead/lci/port.h"),
                ("apps/sor/a.cc", "fairlead/systems/mpi/comm.h"),
                ("fairlead/sim/a.cc", "clock.h"),
                ("fairlead/sim/a.cc", "../base/units.h")]:
            self.assertEqual(len(layer_faults(name, target)), 1, f"{name} -> {target}")

    def test_rooms(self):
        for name, target in [
                ("fairlead/lci/memory/a.cc", "fairlead/lci/port.h"),
                ("fairlead/lci/ni/a.h", "fairlead/lci/group/b.h"),
                ("fairlead/lci/memory/a_test.cc", "fairlead/lci/direct/b.h")]:
            self.assertEqual(layer_faults(name, target), [], f"{name} -> {target}")
        for name, target in [
                ("fairlead/lci/port.h", "fairlead/lci/client/b.h"),
                ("fairlead/lci/memory/a.cc", "fairlead/lci/group/b.h"),
                ("fairlead/lci/direct/a.cc", "fairlead/lci/ni/b.h"),
                ("fairlead/lci/attic/a.cc", "fairlead/lci/port.h")]:
            self.assertEqual(len(layer_faults(name, target)), 1, f"{name} -> {target}")

    def test_cycles(self):
        tree = Tree({"fairlead/sim/a.h": '#include "fairlead/sim/b.h"\n',
                     "fairlead/sim/b.h": '#include "fairlead/sim/c.h"\n',
                     "fairlead/sim/c.h": "\n",
                     "fairlead/sim/a_test.cc": '#include "fairlead/sim/a.h"\n'})
        self.assertEqual(check_layers.check_cycles(tree.root), [])
        # Expect: a source counts as its header does, and the cycle is named.
        (tree.root / "fairlead/sim/c.cc").write_text('#include "fairlead/sim/a.h"\n')
        found = check_layers.check_cycles(tree.root)
        self.assertEqual(len(found), 1)
        self.assertIn("fairlead/sim: modules include each other", found[0])
        self.assertTrue(found[0].endswith("a, b, c"), found[0])

    def test_message_names_file_and_line(self):
        faults = layer_faults("fairlead/sim/a.h", "fairlead/base/units.h", "fairlead/hw/host.h")
        # Expect: the second line is the one named.
        self.assertEqual(len(faults), 1)
        self.assertTrue(faults[0].startswith("fairlead/sim/a.h:2: "), faults[0])


class Style(unittest.TestCase):
    def errors(self, text, name="fairlead/base/a.cc"):
        return check_style.check(Tree({name: text}).root)[0]

    def warnings(self, text):
        return check_style.check(Tree({"fairlead/base/a.cc": text}).root)[1]

    def test_errors(self):
        for text in ["// TO" "DO later\n", "int a;  // FIX" "ME\n", "\tint a;\n",
                     "// " + "x" * 98 + "\n", 'auto p = "/wo' 'rk/here";\n']:
            self.assertEqual(len(self.errors(text)), 1, text)

    def test_comments_that_begin_poorly(self):
        for begins in ("Of a rank", "The same again"):
            for text, name in [("int a;\n// {}.\n", "fairlead/base/a.cc"),
                               ("int a;  // {}\n", "fairlead/base/a.h"),
                               ("    # {}.\n", "tools/a.py"), ("# {}.\n", "scripts/a"),
                               ("set(a b)  # {}\n", "cmake/a.cmake")]:
                found = self.errors(text.format(begins), name=name)
                self.assertEqual(len(found), 1, (name, text))
                self.assertIn("comment that begins with", found[0])
        # Expect: later lines of a comment, other words and other files may begin so.
        for text, name in [("// What is kept\n// Of a rank.\n", "fairlead/base/a.cc"),
                           ("// Offset of a rank.\n", "fairlead/base/a.cc"),
                           ("# Of ranks\n", "docs/a.md")]:
            self.assertEqual(self.errors(text, name=name), [], text)

    def test_in_order(self):
        self.assertEqual(self.errors('const char* name = "/tmp/fairlead-XXXXXX";\n'), [])
        # Expect: prose and tables may be wide.
        self.assertEqual(self.errors("| " + "x" * 120 + "\n", name="docs/a.md"), [])

    def test_long_function(self):
        body = "  call();\n" * 80
        self.assertEqual(len(self.warnings("int f(int a) {\n" + body + "}\n")), 1)
        broken_head = "Type f(int a,\n       int b) {\n"
        self.assertEqual(len(self.warnings(broken_head + body + "}\n")), 1)
        # Expect: types, namespaces and short functions in them pass.
        self.assertEqual(self.warnings("namespace a {\n" + body + "}\n"), [])
        self.assertEqual(self.warnings("class A : public B<int(int)> {\n" + body + "};\n"), [])
        short = "  int f(int a) {\n    call();\n  }\n" * 30
        self.assertEqual(self.warnings("class A {\n" + short + "};\n"), [])

    def test_long_file(self):
        self.assertEqual(len(self.warnings("int a;\n" * 601)), 1)


class Headers(unittest.TestCase):
    def test_header_that_needs_another_first(self):
        tree = Tree({"fairlead/base/a.h": "#pragma once\ninline std::size_t f() { return 1; }\n",
                     "fairlead/base/b.h": "#pragma once\ninline int g() { return 1; }\n"})

        def run():
            headers = check_headers.headers_of(tree.root)
            todo = check_headers.commands(dict.fromkeys(headers, set()), "g++")
            answers = common.run_cached(tree.root, "headers", todo, "", 2)
            return {name: passed for name, passed, _ in answers}

        expected = {"fairlead/base/a.h": False, "fairlead/base/b.h": True}
        self.assertEqual(run(), expected)
        # Expect: a failure is not kept as a pass, and a change of content is seen.
        self.assertEqual(run(), expected)
        (tree.root / "fairlead/base/b.h").write_text("#pragma once\ninline Unknown g();\n")
        self.assertFalse(run()["fairlead/base/b.h"])

    def test_headers_that_begin_a_source_file(self):
        tree = Tree({"fairlead/base/a.cc": '// Text.\n#include "fairlead/base/a.h"\n'
                                           '#include "fairlead/base/b.h"\n',
                     "fairlead/base/c.c": '#include "fairlead/base/c.h"\n',
                     "fairlead/base/d.cc": '#include <vector>\n#include "fairlead/base/d.h"\n'})
        first = check_headers.read_first(tree.root)
        self.assertIn("fairlead/base/a.h", first)
        for other in "bcd":
            self.assertNotIn(f"fairlead/base/{other}.h", first)

    def test_name_of_std_whose_header_is_not_included(self):
        tree = Tree({"fairlead/base/a.h": "#include <string>\n#include <vector>\n",
                     "fairlead/base/b.h": '#include "fairlead/base/a.h"\n'
                                          "std::vector<std::string> f();  // std::deque\n"
                                          "std::optional<int> g();\nstd::unheard_of h();\n"})
        headers = check_headers.standard_includes(tree.root, check_headers.headers_of(tree.root))
        # Expect: what comes by an include is found; a comment is not read; the others are named.
        faults = check_headers.missing_names(tree.root, headers)
        self.assertEqual(len(faults), 2)
        self.assertEqual(faults[0], "fairlead/base/b.h: std::optional: include <optional>")
        self.assertIn("std::unheard_of: no header is known for it", faults[1])

    def test_files_that_pass_together_are_not_looked_at_one_by_one(self):
        tree = Tree({f"fairlead/base/{n}.h": "bad\n" if n == "b" else "good\n" for n in "abc"})
        names = [f"fairlead/base/{n}.h" for n in "abc"]
        log = tree.root / "log"
        script = 'echo "$@" >> ' + str(log) + '; ! grep -q bad "$@"'

        def run():
            todo = {n: ["sh", "-c", script, "sh", n] for n in names}
            answers = common.run_cached(tree.root, "some", todo, "", 1,
                                        lambda many: ["sh", "-c", script, "sh", *many])
            return [passed for _, passed, _ in answers], log.read_text().splitlines()

        # Expect: all fail as one of them does, so that each is asked; none but that one again.
        self.assertEqual(run(), ([True, False, True], [" ".join(names), *names]))
        self.assertEqual(run()[1][4:], [names[1], names[1]])
        (tree.root / names[1]).write_text("mended\n")
        self.assertEqual(run()[0], [True, True, True])

    def test_change_in_an_included_file_is_seen(self):
        tree = Tree({"fairlead/base/a.h": '#pragma once\n#include "fairlead/base/b.h"\n',
                     "fairlead/base/b.h": "#pragma once\n"})
        before = common.Closure(tree.root).digest("fairlead/base/a.h", "")
        (tree.root / "fairlead/base/b.h").write_text("#pragma once\nint x;\n")
        self.assertNotEqual(before, common.Closure(tree.root).digest("fairlead/base/a.h", ""))


if __name__ == "__main__":
    unittest.main()
