"""installed.py - what an installed package does: packs, verifies, reads; run by a Python that has imrec, outside of the tree."""
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import imrec

assert "site-packages" in imrec.__file__, imrec.__file__
assert imrec.__version__ == version("imrec"), (imrec.__version__, version("imrec"))
images = np.random.default_rng(1).integers(0, 256, (40, 24, 32, 3)).astype(np.uint8)
with tempfile.TemporaryDirectory() as folder:
    imrec.pack([(p, i % 3) for i, p in enumerate(images)], folder + "/a.rec", encoding="png", quality=1)
    assert (imrec.open(folder + "/a.rec")[7].pixels() == images[7]).all()
    assert not imrec.verify(folder + "/a.rec")["findings"]
    with imrec.ImageRecordIter(folder + "/a.rec", data_shape=(3, 24, 32), batch_size=16, shuffle=True, last_batch="partial") as it:
        for batch in it:
            assert (batch.data == images[batch.ids.astype(int)].transpose(0, 3, 1, 2)).all()
    if "programs" in sys.argv[1:]:
        scripts = Path(sys.executable).parent
        for program in ("imrec", "im2rec", "ctf2bin"):
            for command in ([scripts / program], [sys.executable, "-m", "imrec", program]):
                said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
                assert said == f"{program} {imrec.__version__}\n", (command, said)
        (Path(folder) / "photos" / "a").mkdir(parents=True)
        for i in range(4):
            (Path(folder) / "photos" / "a" / f"{i}.jpg").write_bytes(imrec.encode_jpeg(images[i]))
        subprocess.run([scripts / "im2rec", "--quiet", folder + "/photos", folder + "/b.rec"], check=True)
        subprocess.run([scripts / "imrec", "verify", "--quiet", folder + "/b.rec"], check=True)
        assert len(imrec.open(folder + "/b.rec")) == 4
print("installed, packed, verified, read", imrec.__version__)
