#!/usr/bin/env bash
# bare.sh SOURCE FOLDER [WHEEL] - how long a machine that has nothing but Debian takes to its first batch: at most 60 s from the wheel,
# at most 150 s from a clone. The machine is a chroot made by mmdebstrap; its packages, pip's too, are downloaded each time.
# Needs root, mmdebstrap and the wheel of tools/dev/build_wheel; IMREC_LOADED=1 prints times without comparing them.
set -euo pipefail
source=$1 folder=$2
if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap >/dev/null; then
    echo "skipped: needs root and mmdebstrap"
    exit 77
fi
wheel=${3:-$("$source/tools/dev/build_wheel" "$folder/wheel")} || exit $?
mkdir -p "$folder"
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
root=$(mktemp -d "${TMPDIR:-/tmp}/imrec-bare-XXXXXX")
remove() { rm -rf --one-file-system "$root"; }
trap remove EXIT

bare() { # a machine as it is when it is new, with what this one knows of networks
    remove
    unshare --mount --propagation private mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$root" >/dev/null
    cp /etc/resolv.conf "$root/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    mkdir "$root/imrec"
}
# Mounts are those of a namespace, and end with it: nothing of this machine is ever below the folder that is removed.
inside() {
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -euc 'mount -t proc proc "$1/proc" && exec chroot "$1" env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 bash -euc "$2"' bash "$root" "$1"
}
timed() { # NAME LIMIT COMMANDS
    local began=$SECONDS took
    inside "TIMEFORMAT='CPU %U + %S' && time { $3
}" >"$folder/log" 2>&1 || { tail -30 "$folder/log" && exit 1; }
    grep -q '^first batch' "$folder/log" || { tail -30 "$folder/log" && exit 1; }
    took=$((SECONDS - began))
    echo "$1: $took s to the first batch, of at most $2; $(sed -n 's/^CPU/CPU time/p' "$folder/log") s"
    if [ -z "${IMREC_LOADED:-}" ] && [ "$took" -gt "$2" ]; then exit 1; fi
}

cat >"$folder/first.py" <<'PYTHON'
import subprocess, sys
import numpy, imrec
from pathlib import Path
noise = numpy.random.default_rng(1)
for i in range(64):
    Path(f"/tmp/photos/{i % 4}").mkdir(parents=True, exist_ok=True)
    Path(f"/tmp/photos/{i % 4}/{i}.jpg").write_bytes(imrec.encode_jpeg(noise.integers(0, 256, (300, 400, 3), "uint8")))
subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--quiet", "--resize", "256", "/tmp/photos", "/tmp/train.rec"], check=True)
with imrec.ImageRecordIter("/tmp/train.rec", data_shape=(3, 224, 224), batch_size=32, shuffle=True, rand_crop=True) as batches:
    print("first batch", next(batches).data.shape)
PYTHON

bare
cp "$wheel" "$folder/first.py" "$root/imrec"
timed "from the wheel" 60 'apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv &&
python3 -m venv /opt/imrec && /opt/imrec/bin/pip install -q /imrec/*.whl && cd /tmp && /opt/imrec/bin/python /imrec/first.py'

bare
(cd "$source" && git ls-files -z | tar --null -T - -cf -) | tar -C "$root/imrec" -xf -
cp "$folder/first.py" "$root/tmp"
timed "from a clone" 150 'cd /imrec && apt-get update -qq && apt-get install -qq -y --no-install-recommends gcc libc6-dev cmake ninja-build pkg-config \
    libjpeg-dev libjansson-dev librandom123-dev libspng-dev zlib1g-dev python3-dev python3-cffi python3-numpy &&
cmake --preset release -G Ninja -DIMREC_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE=/usr/bin/python3 &&
cmake --build --preset release --target imrec_python imrec_tool im2rec ctf2bin &&
cd /tmp && PYTHONPATH=/imrec/build/release/python python3 /tmp/first.py'
