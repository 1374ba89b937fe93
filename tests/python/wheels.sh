#!/usr/bin/env bash
# wheels.sh SOURCE FOLDER - the wheels of tools/dev/build_wheel, for x86-64 and aarch64: their size and tag, what is in
# them; each installs into an empty environment and packs, verifies and reads there, aarch64's under qemu-user; a C program
# links the library in it; https works with the machine's authorities. Built again from a copy of the tree elsewhere, with all
# libraries in it, a wheel has the same bytes.
set -euo pipefail
source=$1 folder=$2
export PIP_DISABLE_PIP_VERSION_CHECK=1
rm -rf "$folder" && mkdir -p "$folder"
fail() { echo "$@" && exit 1; }

check_file() { # WHEEL ARCH
    local bytes
    bytes=$(stat -c %s "$1")
    [ "$bytes" -le 5000000 ] || fail "$1 has $bytes bytes, over 5 MB"
    [[ $1 = *-cp39-abi3-manylinux_2_28_$2.whl ]] || fail "$1 is not for every Python and Linux"
    rm -rf "$folder/tree" && python3 -m zipfile -e "$1" "$folder/tree"
    if grep -rlF "$source" "$folder/tree"; then fail "names the folder that it was built in"; fi
    for file in bin/imrec lib/libimrec.so.1 lib/libimrec-needs.so _imrec.abi3.so; do
        [ -s "$folder/tree/imrec/$file" ] || fail "no $file in $1"
    done
    bash "$source/tests/lint/hardening.sh" "$folder"/tree/imrec/{bin/imrec,lib/libimrec.so.1,lib/libimrec-needs.so,_imrec.abi3.so}
    python3 - "$folder"/tree/imrec-*.dist-info <<'PYTHON'
import json, pathlib, sys
info = pathlib.Path(sys.argv[1])
bill = json.loads((info / "sboms" / "imrec.cdx.json").read_text())
parts = {part["name"]: part["version"] for part in bill["components"]}
assert {"openssl", "curl", "libjpeg-turbo", "gcc-12"} <= set(parts) and all(parts.values()), parts
missing = [name for name in parts if not (info / "licenses" / "libraries" / f"{name}.txt").exists()]
assert not missing, f"no licence of {missing}"
PYTHON
    echo "$1: $bytes bytes"
}

check_c() { # a C program with the library of the wheel
    local package
    package=$("$folder/venv/bin/python" -c 'import imrec; print(imrec.__path__[0])')
    export PKG_CONFIG_PATH=$package/lib/pkgconfig
    # shellcheck disable=SC2046
    cc "$source/examples/read.c" -o "$folder/reads" $(pkg-config --cflags --libs imrec) -Wl,-rpath,"$package/lib"
    "$folder/venv/bin/im2rec" --quiet "$folder/photos" "$folder/set.rec"
    "$folder/reads" "$folder/set.rec" | grep -q '^batch 0'
}

check_https() { # a server of this machine with a certificate that the machine does not know, and then knows
    cd "$folder"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem \
        -out cert.pem 2>/dev/null
    python3 "$source/tests/python/https_folder.py" "$folder" >port &
    local server=$! port
    until [ -s port ]; do sleep 0.1; done
    port=$(cat port)
    local status=0
    unset CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
    venv/bin/imrec info "https://localhost:$port/set.rec" >said 2>&1 && status=1
    grep -qi certificate said || status=2
    SSL_CERT_FILE=$folder/cert.pem venv/bin/imrec info "https://localhost:$port/set.rec" >said 2>&1 || status=3
    kill $server
    [ $status = 0 ] || { cat said && fail "https: $status"; }
}

check_here() { # WHEEL
    python3 -m venv "$folder/venv"
    PATH=$folder/venv/bin "$folder/venv/bin/pip" install -q --only-binary :all: "$1" # no compiler is on this PATH
    (cd "$folder" && PATH=$folder/venv/bin venv/bin/python "$source/tests/python/installed.py" programs)
    mkdir -p "$folder/photos/a"
    "$folder/venv/bin/python" -c 'import imrec, numpy, sys
for i in range(4):
    open(f"{sys.argv[1]}/photos/a/{i}.jpg", "wb").write(imrec.encode_jpeg(numpy.full((40, 50, 3), i * 60, "uint8")))' "$folder"
    check_c
    check_https
}

check_aarch64() { # WHEEL: under qemu-user, with an arm64 Debian's Python
    local root=$source/build/wheels/python-arm64
    command -v qemu-aarch64 >/dev/null || { echo "aarch64: not run, there is no qemu-user" && return; }
    tools/dev/arm64_sysroot "$root" python3 python3-numpy python3-cffi || { echo "aarch64: not run, apt-get has no arm64 Python" && return; }
    rm -rf "$folder/site-packages" && python3 -m zipfile -e "$1" "$folder/site-packages"
    chmod +x "$folder/site-packages/imrec/bin/imrec"
    run() { qemu-aarch64 -L "$root" -E PYTHONPATH="$folder/site-packages" -E "LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu/blas:$root/usr/lib/aarch64-linux-gnu/lapack" "$@"; }
    run "$root/usr/bin/python3.11" -S -c "import sys; sys.path.append('$root/usr/lib/python3/dist-packages'); sys.argv[1:] = []
exec(open('$source/tests/python/installed.py').read())"
    run "$folder/site-packages/imrec/bin/imrec" --version
    run "$folder/site-packages/imrec/bin/imrec" verify --quiet "$folder/set.rec"
    run "$folder/site-packages/imrec/bin/imrec" doctor | grep -E 'variants|used|libcurl'
}

cd "$source"
here=$(uname -m)
wheel=$(tools/dev/build_wheel --arch "$here" "$folder")
check_file "$wheel" "$here"
check_here "$wheel"
cd "$source"
if [ "$here" = x86_64 ]; then
    other=$(tools/dev/build_wheel --arch aarch64 "$folder")
    check_file "$other" aarch64
    check_aarch64 "$other"
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
export SOURCE_DATE_EPOCH
mkdir -p "$folder/copy/build/wheels" && tar --exclude ./build --exclude ./.git -cf - . | tar -C "$folder/copy" -xf -
for tool in venv venv-zig; do ln -s "$source/build/wheels/$tool" "$folder/copy/build/wheels/$tool"; done
cp -r "$source/build/wheels/sources" "$folder/copy/build/wheels/sources" # the same versions; all of it is compiled again
again=$("$folder/copy/tools/dev/build_wheel" --arch "$here" "$folder/again")
cmp "$wheel" "$again" || fail "built again, the wheel has other bytes"
echo "built again elsewhere: the same bytes"
