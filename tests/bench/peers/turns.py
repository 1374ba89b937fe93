"""A peer's process: started, stopped (SIGSTOP) while others have their turn, measured from outside."""
import json
import os
import pathlib
import select
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 180  # seconds for a peer to say the next word


class Failed(Exception):
    """What is said of a peer instead of its figures."""


class Peer:
    def __init__(self, python, script, name, workload, cpus, data, log):
        command = ["taskset", "-c", ",".join(map(str, cpus)), str(python), str(HERE / f"peer_{script}.py"), "measure",
                   "--name", name, "--workload", workload, "--threads", str(len(cpus)), "--data", str(data)]
        self.log = open(log, "w", encoding="utf-8")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        start_new_session=True)
        self.buffer = b""
        self.memory = 0
        try:
            self.ready = self.word("ready")
            self.look()
            self.signal(signal.SIGSTOP)
        except BaseException:
            self.close()
            raise

    def line(self, deadline):
        out = self.process.stdout.fileno()
        while b"\n" not in self.buffer:
            if not select.select([out], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failed(f"said nothing for {PATIENCE} seconds")
            piece = os.read(out, 65536)
            if not piece:
                raise Failed(f"ended with status {self.process.wait()}; {self.log.name}")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\n")
        return text.decode(errors="replace")

    def word(self, state):
        deadline = time.monotonic() + PATIENCE
        while True:
            text = self.line(deadline)
            if text.startswith("peer:"):
                said = json.loads(text[5:])
                if said["state"] == "failed":
                    raise Failed(said["reason"])
                if said["state"] != state:
                    raise Failed(f"said {said['state']} where {state} was expected")
                return said

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def tree(self):
        """Process ids of the peer and of all below it: they share the session that it leads."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == self.process.pid:  # the session
                    found.append((entry, fields))
        return found

    def cpu_s(self):
        return sum(int(f[11]) + int(f[12]) for _, f in self.tree()) / TICK

    def look(self):
        """Memory: what all its processes hold, shared pages counted once."""
        total = 0
        for entry, _ in self.tree():
            try:
                lines = (entry / "smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        self.memory = max(self.memory, total)

    def turn(self, seconds):
        self.signal(signal.SIGCONT)
        self.process.stdin.write(f"go {seconds}\n".encode())
        self.process.stdin.flush()
        self.word("begin")
        begin = self.cpu_s()
        end = self.word("end")
        cpu = self.cpu_s() - begin
        self.look()
        self.signal(signal.SIGSTOP)
        return {"images_per_s": end["images"] / end["seconds"], "cpu_us_per_image": 1e6 * cpu / end["images"]}

    def close(self):
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()
