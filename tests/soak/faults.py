"""The page by which tests/soak/faulty_calls.c learns what fails, and says what has failed."""
import mmap
import os
import struct
from pathlib import Path

KINDS = ("read_eio", "read_bad", "read_short", "read_eintr", "read_slow", "write_eio", "write_full", "write_short", "write_eintr",
         "write_slow", "sync_eio", "open_eio", "rename_eio")
PLACES = 8
_HEAD = struct.Struct(f"=QQ{len(KINDS)}Q")
_RATES = struct.Struct(f"={len(KINDS)}IIII")
_BAD = struct.Struct(f"={3 * PLACES}Q")
_PAD = -(_HEAD.size + _RATES.size) % 8
_SIZE = _HEAD.size + _RATES.size + _PAD + _BAD.size + 512


class FaultPage:
    """A page of one program's faults. What it has injected is added to `total`."""

    def __init__(self, path, folder, seed, shim):
        self.path, self.total = path, dict.fromkeys(KINDS, 0)
        self.environment = dict(os.environ, LD_PRELOAD=str(shim), IMREC_FAULT_PAGE=str(path))
        path.write_bytes(bytes(_SIZE))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), _SIZE)
        self.map[_SIZE - 512:_SIZE] = (os.path.realpath(folder) + "/").encode().ljust(512, b"\0")
        self.map[:8] = struct.pack("=Q", seed)

    def set(self, bad=(), sleep_us=3000, works=8, **rates):
        """rates: of a million calls; bad: (path, begin, end) that no read gets through. The look whether a failure was for once,
        and the read itself, are two reads, which then work; with something bad around it they may be more."""
        places = [n for path, begin, end in bad for n in (os.stat(path).st_ino, begin, end)]
        at = _HEAD.size + _RATES.size + _PAD
        self.map[at:at + _BAD.size] = _BAD.pack(*places, *[0] * (3 * PLACES - len(places)))
        self.map[_HEAD.size:_HEAD.size + _RATES.size] = _RATES.pack(*(rates.get(k, 0) for k in KINDS), sleep_us, works if not bad else 50, len(bad))

    def take(self):
        """What was injected since the last call; nothing is from now on."""
        self.set()
        head = _HEAD.unpack_from(self.map, 0)
        now = dict(zip(KINDS, head[2:]))
        self.map[16:_HEAD.size] = bytes(_HEAD.size - 16)
        for kind in KINDS:
            self.total[kind] += now[kind]
        return now


def count_of(pid):
    """Open descriptors and threads of a process, its resident bytes."""
    process = Path("/proc") / str(pid)
    resident = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return len(os.listdir(process / "fd")), len(os.listdir(process / "task")), resident
