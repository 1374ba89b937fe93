#!/usr/bin/env bash
# wheel.sh SOURCE FOLDER - the wheel installs into an empty environment, needs nothing that is not on
# every machine, packs, reads and verifies there, and brings the programs and its licence.
set -euo pipefail
cd "$1"
folder=$2
wheel=$(tools/dev/build_wheel "$folder") || exit $?
bytes=$(stat -c %s "$wheel")
[ "$bytes" -le 10000000 ] || { echo "$wheel has $bytes bytes, over 10 MB"; exit 1; }
case $wheel in
*-cp39-abi3-manylinux_*) ;;
*) echo "$wheel is not for every Python and Linux"; exit 1 ;;
esac
build/venv/bin/python -m venv --clear "$folder/venv"
"$folder/venv/bin/pip" --disable-pip-version-check -q install "$wheel"
cd "$folder" # not where the sources are
PATH=$PWD/venv/bin:/usr/bin:/bin
for program in imrec im2rec ctf2bin; do
    said=$($program --version; python -m imrec $program --version)
    version=$program\ $(python -c 'from importlib.metadata import version; print(version("imrec"))')
    [ "$said" = "$version"$'\n'"$version" ] || { echo "$program says '$said'"; exit 1; }
    if ldd "$(python -c 'import imrec; print(imrec.__path__[0])')/bin/$program" | grep -v 'imrec.libs' | grep -E 'libjpeg|libgomp|libjansson'; then
        echo "$program takes libraries of the system"
        exit 1
    fi
done
python -m pip show -v imrec | grep -q '^License-Expression: Apache-2.0' ||
    grep -q '^License-Expression: Apache-2.0' venv/lib/python3*/site-packages/imrec-*.dist-info/METADATA
ls venv/lib/python3*/site-packages/imrec-*.dist-info/licenses/LICENSE >/dev/null
venv/bin/python - <<'PYTHON'
import tempfile
import numpy as np
import imrec

assert "site-packages" in imrec.__file__, imrec.__file__
linked = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for name in ("libjpeg", "libgomp", "libjansson"):  # those inside, not the system's
    assert any("imrec.libs/" + name in path for path in linked), (name, sorted(linked))
images = np.random.default_rng(1).integers(0, 256, (40, 24, 32, 3)).astype(np.uint8)
with tempfile.TemporaryDirectory() as folder:
    imrec.pack([(p, i % 3) for i, p in enumerate(images)], folder + "/a.rec", encoding="png", quality=1)
    assert (imrec.open(folder + "/a.rec")[7].pixels() == images[7]).all()
    assert not imrec.verify(folder + "/a.rec")["findings"]
    with imrec.ImageRecordIter(folder + "/a.rec", data_shape=(3, 24, 32), batch_size=16, shuffle=True, last_batch="partial") as it:
        for batch in it:
            assert (batch.data == images[batch.ids.astype(int)].transpose(0, 3, 1, 2)).all()
print("installed, packed, read", imrec.__version__)
PYTHON
