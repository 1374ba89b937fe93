"""One case of the golden files: the programs that it runs, and the sums of what they leave."""
import hashlib
import os
import re
import subprocess

# What tells of the run or in words, not of the data.
WORDS = re.compile(rb'("(?:reason|message)": ?)"(?:[^"\\]|\\.)*"')
TIMES = re.compile(rb'("(?:seconds|images_per_s)": ?)[-+0-9.e]+')
VERSION = re.compile(rb'("packer": "imrec) [^"]*"')
# What cards say since the sums were made: of what kind the shards are.
SOURCE = re.compile(rb'"source": "(?:RecordIO shard|CBF file|tar archive)",\s*')
LIMIT_S = 120
DIGITS = 16 # of a SHA-256: enough for changes that nobody makes on purpose


def plain(data):
    """Bytes of JSON without sentences, times, the version and what is newer than the sums."""
    data = SOURCE.sub(b"", data)
    return VERSION.sub(rb'\1"', TIMES.sub(rb"\g<1>0", WORDS.sub(rb'\1""', data)))


def read(path):
    """The file's bytes, of JSON the plain ones."""
    with open(path, "rb") as f:
        data = f.read()
    return plain(data) if path.endswith((".json", ".jsonl")) else data


def files_below(path):
    """All files at or below `path`, sorted. What an interrupted run leaves depends on its threads."""
    if os.path.isfile(path):
        return [path]
    found = []
    for folder, _, names in os.walk(path):
        found += [os.path.join(folder, name) for name in names if not name.endswith(".part")]
    return sorted(found)


def folder_of(name):
    """Where a case works: OUT/FAMILY/NAME, without what shells and file systems do not like."""
    family, rest = name.split("/", 1)
    rest = re.sub(r"[^A-Za-z0-9_.+-]+", "_", rest)
    if len(rest) > 100:
        rest = rest[:90] + hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"out/{family}/{rest}"


def lines(text):
    """The lines of a table of cases. One that ends in a backslash goes on; 'plain' stands for no words."""
    joined = re.sub(r"\\\n\s*", "", text)
    return tuple("" if line.strip() == "plain" else line.strip() for line in joined.splitlines() if line.strip())


class Case:
    """What the case `name`, FAMILY/WORDS, leaves in its folder, where the programs run in `root`."""

    def __init__(self, root, programs, name):
        self.root, self.programs, self.name, self.folder = root, programs, name, folder_of(name)
        self.lines, self.commands, self.statuses, self.said = [], [], [], ""
        os.makedirs(self.at(self.folder))

    def at(self, path):
        return os.path.join(self.root, path)

    def run(self, program, *words, cpu=None):
        """Runs PROGRAM in the root, with kernels of this level of CPU, and returns what it prints."""
        words = [str(word) for word in words]
        env = dict(os.environ, LC_ALL="C", TZ="UTC")
        env.pop("IMREC_CPU", None)
        if cpu is not None:
            env["IMREC_CPU"] = cpu
        self.commands.append(" ".join([program] + words))
        try:
            done = subprocess.run([self.programs[program]] + words, cwd=self.root, env=env, timeout=LIMIT_S,
                                  check=False, stdin=subprocess.DEVNULL, capture_output=True)
        except subprocess.TimeoutExpired:
            self.statuses.append("timeout")
            return b""
        self.statuses.append(str(done.returncode))
        self.said += done.stderr.decode(errors="replace")
        return done.stdout

    def keep(self, artifact, data):
        self.lines.append((artifact, f"{hashlib.sha256(data).hexdigest()[:DIGITS]} {len(data)}"))

    def keep_json(self, artifact, data):
        if data:
            self.keep(artifact, plain(data))

    def keep_file(self, path, artifact=None):
        artifact = artifact or os.path.basename(path)
        if os.path.exists(self.at(path)):
            self.keep(artifact, read(self.at(path)))
        else:
            self.lines.append((artifact, "missing"))

    def keep_files(self, path=None):
        """Every file at or below `path`, the case's folder unless it is given."""
        top = self.at(path or self.folder)
        for found in files_below(top):
            self.keep_file(os.path.relpath(found, self.root), os.path.relpath(found, top))

    def results(self):
        """(artifact, sum) of all; first the statuses of the programs, unless all are 0."""
        failed = any(status != "0" for status in self.statuses)
        return ([("status", " ".join(self.statuses))] if failed else []) + self.lines
