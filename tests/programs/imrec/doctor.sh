#!/usr/bin/env bash
# What doctor says of the machine is checked against the system's own tools; of a set: its cache and its speed. It
# writes nothing.
make_set a.rec 40
imrec doctor >text.txt; echo "exit $?"
grep -E '^[A-Z]' text.txt
grep -c '^  -> ' text.txt
export PYTHONDONTWRITEBYTECODE=1
cat >look.py <<'PY'
import json, os, resource, subprocess, sys
said = json.loads(subprocess.run(["imrec", "doctor", "--json", *sys.argv[1:]], check=True, stdout=subprocess.PIPE).stdout)
assert all(section["advice"] for section in said.values())
machine, limits = said["machine"], said["limits"]
print(machine["cpus"] == len(os.sched_getaffinity(0)), machine["memory_bytes"] >= machine["available_bytes"] > 0)
print(limits["open_files"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0])
shm = os.statvfs("/dev/shm")
print(limits["shm_bytes"] == shm.f_blocks * shm.f_frsize)
print("jpeg" in said["build"]["formats"], {l["name"] for l in said["build"]["libraries"] if not l["version"]} <= {"libspng", "libwebp", "libtiff", "giflib", "zlib", "libcurl"})
if "set" in said:
    s, size = said["set"], os.path.getsize("a.rec")
    print(s["shards"], s["bytes"] == size, s["looked_at_bytes"] == size, 0 <= s["cached_bytes"] <= size, s["read_bytes"] == size, s["read_mb_per_s"] > 0)
PY
python3 look.py a.rec
taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" imrec doctor --json | grep '"cpus":'
IMREC_CPU=scalar imrec doctor | grep -E '^  (used|JPEG decoder)'
IMREC_CPU=fast imrec doctor | grep IMREC_CPU
(ulimit -n 100 && imrec doctor | grep -E 'open files|few files')
imrec doctor missing.rec; echo "exit $?"
imrec doctor --jsn; echo "exit $?"
ls
