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


def run_cached(root, check, commands, salt, jobs):
    """Runs {file: command} in parallel, at most `jobs` at once. A file that passed before with the
    same content, included files and salt is not run again. Answers (file, passed, output) of all.
    """
    closure = Closure(root)
    cache = Path(root) / "build" / "check" / check
    cache.mkdir(parents=True, exist_ok=True)

    def run(item):
        name, command = item
        stamp = cache / closure.digest(name, salt + " ".join(command))
        if stamp.exists():
            return name, True, stamp.read_text()
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        if done.returncode == 0:
            temporary = stamp.with_suffix(f".{os.getpid()}")
            temporary.write_text(done.stdout)
            temporary.rename(stamp)
            return name, True, done.stdout
        return name, False, output

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(run, commands.items()))


def add_arguments(parser):
    parser.add_argument("--root", type=Path, default=ROOT, help="tree to check")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    return parser
