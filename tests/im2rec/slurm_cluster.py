"""A Slurm cluster of this machine alone, for as long as a `with` lasts: munged, slurmctld, slurmd.

Configuration, key, sockets, ports, state and logs are its own, in a temporary folder; nothing of the system's Slurm or
munge is used or changed. alone() sees to it that all processes are gone at the end, however it comes: those of jobs are
children of none of the daemons.
"""
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "scancel", "scontrol", "sinfo", "squeue")
CPUS = 64  # that Slurm believes in, so that the guide's -n 64 runs as it is
CONF = """ClusterName=imrec
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here; None: there can."""
    if os.geteuid() != 0:
        return "a Slurm cluster of one's own needs root"
    absent = [name for name in PROGRAMS if find(name) is None]
    return f"no {', '.join(absent)}: tools/install_dependencies slurm" if absent else None


def find(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # it has ended


def family():
    """Processes that descend from this one. Those whose parents have ended are its children, too."""
    parents = {int(name): parent_of(name) for name in os.listdir("/proc") if name.isdigit()}
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


def end_family():
    while left := family():
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.01)


def alone(main, *words):
    """main() in a process of its own; whatever that leaves is ended. The exit status."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what daemonizes becomes a child of this process
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        sys.exit(main(*words))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGTERM))
    ended, status = 0, 0
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    end_family()
    return os.waitstatus_to_exitcode(status) & 255


class Cluster:
    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="imrec-slurm-"))
        self.daemons, self.log = [], open(self.folder / "daemons.log", "ab")
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        host, munge = socket.gethostname().split(".")[0], self.folder / "munge.key"
        munge.write_bytes(os.urandom(1024))
        munge.chmod(0o400)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        conf = self.folder / "slurm.conf"
        conf.write_text(CONF.format(folder=self.folder, host=host, ports=free_ports(2), cpus=CPUS))
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "SALLOC_"))},
                    "SLURM_CONF": str(conf)}
        self.daemon("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={munge}",
                    f"--log-file={self.folder}/munged.log", f"--pid-file={self.folder}/munged.pid",
                    f"--seed-file={self.folder}/munged.seed")
        self.wait_for(lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D", "-N", host)
        self.wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t"))

    def daemon(self, name, *words):
        self.daemons.append(subprocess.Popen([find(name), *words], env=self.env, stdin=subprocess.DEVNULL, stdout=self.log,
                                             stderr=self.log, start_new_session=True))

    def wait_for(self, true, seconds=60):
        end = time.monotonic() + seconds
        while not true():
            ended = [d.args[0] for d in self.daemons if d.poll() is not None]
            if ended or time.monotonic() > end:
                logs = "".join(p.read_text(errors="replace")[-2000:] for p in self.folder.glob("*.log"))
                raise RuntimeError(f"{ended or 'the cluster'} did not come up:\n{logs}")
            time.sleep(0.1)

    def ask(self, *words):
        """What a command of Slurm says; nothing where it fails."""
        return subprocess.run(words, env=self.env, check=False, capture_output=True, text=True, timeout=60).stdout

    def jobs(self, name=""):
        """Elements and jobs that have not ended, as "12_3" or "13", whose name begins so."""
        rows = [row.split(" ", 1) for row in self.ask("squeue", "-h", "-r", "-o", "%i %j").splitlines()]
        return [number for number, title in rows if title.startswith(name)]

    def cancel(self, *numbers):
        if numbers:
            subprocess.run(["scancel", *numbers], env=self.env, check=False, capture_output=True, timeout=60)

    def drain(self):
        """Cancels what is there and waits for its end."""
        self.cancel(*self.jobs())
        self.wait_for(lambda: not self.jobs())

    def __exit__(self, *_):
        try:
            if len(self.daemons) == 3:
                self.drain()
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"the jobs are killed: {error}", flush=True)
        finally:
            for daemon in reversed(self.daemons):
                daemon.terminate()
                try:
                    daemon.wait(20)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()
            self.log.close()
            shutil.rmtree(self.folder)
