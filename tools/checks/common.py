"""What the checks share: the files of the tree, their includes, and a cached parallel runner."""
import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP_SUFFIXES = {".h", ".cc", ".c", ".cpp", ".hpp"}
QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def tree_files(root):
    """Files git tracks or would track, relative to root; every file where there is no git."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
        capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:
        names = [str(p.relative_to(root)) for p in Path(root).rglob("*")
                 if p.relative_to(root).parts[0] not in ("build", ".git")]
    # A tracked file may be deleted in the working tree.
    return sorted({n for n in names if n and (Path(root) / n).is_file()})


def cpp_files(root):
    return [n for n in tree_files(root) if Path(n).suffix in CPP_SUFFIXES]


def includes(path):
    """(line number, name) of each quoted include."""
    found = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = QUOTED_INCLUDE.match(line)
        if match:
            found.append((number, match.group(1)))
    return found


class Closure:
    """Transitive quoted includes of a file inside the tree: the key of cached results."""

    def __init__(self, root):
        self.root = Path(root)
        self.direct = {}

    def of(self, name):
        seen = set()
        pending = [name]
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if current not in self.direct:
                path = self.root / current
                self.direct[current] = [n for _, n in includes(path) if (self.root / n).is_file()]
            pending.extend(self.direct[current])
        return seen

    def digest(self, name, salt):
        key = hashlib.sha256(salt.encode())
        for member in sorted(self.of(name)):
            key.update(member.encode() + b"\0" + (self.root / member).read_bytes())
        return key.hexdigest()


def run_cached(root, check, commands, salt, jobs, together=None):
    """Runs {file: command} in parallel, at most `jobs` at once. A file that passed before with the
    same content, included files and salt is not run again. Returns (file, passed, output) of all.
    `together(files)`: a command that passes where each of the files does; many go into one.
    """
    closure = Closure(root)
    cache = Path(root) / "build" / "check" / check
    cache.mkdir(parents=True, exist_ok=True)
    stamps = {name: cache / closure.digest(name, salt + " ".join(command))
              for name, command in commands.items()}
    results = {name: (True, stamp.read_text()) for name, stamp in stamps.items() if stamp.exists()}

    def start(command):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        good = done.returncode == 0
        return good, done.stdout if good else done.stdout + done.stderr

    def passed(name, output):
        temporary = stamps[name].with_suffix(f".{os.getpid()}")
        temporary.write_text(output)
        temporary.rename(stamps[name])
        results[name] = True, output

    def run(name):
        good, output = start(commands[name])
        if good:
            passed(name, output)
        else:
            results[name] = False, output

    def run_many(names):
        if start(together(names))[0]:
            for name in names:
                passed(name, "")

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        if together is not None:
            rest = [name for name in commands if name not in results]
            list(pool.map(run_many, [rest[i:i + 64] for i in range(0, len(rest), 64)]))
        list(pool.map(run, [name for name in commands if name not in results]))
    return [(name, *results[name]) for name in commands]


def add_arguments(parser):
    parser.add_argument("--root", type=Path, default=ROOT, help="tree to check")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    return parser
