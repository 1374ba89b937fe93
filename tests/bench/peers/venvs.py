"""A virtual environment per peer, below one cache folder, made once; the reason if it cannot be made."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

# What pip installs for each script; BASE: a peer that finds its torch in another one's environment
# (torch weighs 5 GB there).
NEEDS = {
    "imrec": ["numpy"],
    "mxnet": ["mxnet==1.9.1", "numpy<1.24", "opencv-python-headless<4.9"],
    "dali": ["nvidia-dali-cuda120", "numpy<2.3"],
    "ffcv": ["ffcv", "numpy<2", "opencv-python-headless<4.12"],
    "torchvision": ["torch", "torchvision"],
    "tensorflow": ["tensorflow-cpu", "pillow"],
    "webdataset": ["webdataset"],
    "simplejpeg": ["simplejpeg", "numpy", "opencv-python-headless"],
    "dlio": ["mpi4py", "openmpi", "hydra-core", "pandas", "psutil", "h5py", "pillow", "pydftracer==1.0.2", "numpy<2.3"],
}
ALONE = {"dlio": ["dlio_benchmark==2.0.0"]}  # without what it asks for: all frameworks; it finds the peers' (tests/bench/dlio.py)
BASE = {"ffcv": "torchvision", "webdataset": "torchvision"}
SYSTEM = {"ffcv": ["opencv4", "libturbojpeg"]}  # pkg-config's names: it compiles against them
PYTHONS = ("python3.11", "python3.10", "python3.9")  # MXNet's numpy has wheels up to 3.11
TREE = pathlib.Path(__file__).resolve().parents[3]


def cache():
    """Where everything is kept that this benchmark makes: IMREC_PEERS_CACHE."""
    default = pathlib.Path.home() / ".cache" / "imrec-peers"
    return pathlib.Path(os.environ.get("IMREC_PEERS_CACHE", default))


def python_for_peers():
    if sys.version_info[:2] <= (3, 11):
        return sys.executable
    return next((p for p in map(shutil.which, PYTHONS) if p), sys.executable)


def python(name):
    return cache() / "venvs" / name / "bin" / "python"


def run(log, *command):
    with open(log, "a", encoding="utf-8") as out:
        subprocess.run([str(c) for c in command], check=True, stdout=out, stderr=out)


def why(log):
    """The last line of pip's that says something."""
    lines = [line.strip() for line in pathlib.Path(log).read_text(errors="replace").splitlines()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no word of why"])[-1][:160]


def needs(name):
    return NEEDS[name] + ([str(TREE)] if name == "imrec" else [])


def stamp(name):
    """Changes with what is to be installed; of imrec, with every file of it."""
    text = "\n".join(needs(name) + ALONE.get(name, []))
    if name == "imrec":
        text += subprocess.run(["sh", "-c", "git rev-parse HEAD && git diff HEAD"], cwd=TREE, check=True,
                               stdout=subprocess.PIPE, text=True).stdout
    return hashlib.sha256(text.encode()).hexdigest()


def site_packages(name):
    return next((cache() / "venvs" / name / "lib").glob("python3*/site-packages"))


def make(name):
    """None, or the reason why there is no environment."""
    folder = cache() / "venvs" / name
    done, log = folder / "imrec-peers.stamp", cache() / f"{name}.log"
    if done.exists() and done.read_text() == stamp(name):
        return None
    for library in SYSTEM.get(name, []):
        if subprocess.run(["pkg-config", "--exists", library], check=False).returncode:
            return f"{library}'s headers are not installed"
    folder.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    try:
        if not python(name).exists():
            run(log, python_for_peers(), "-m", "venv", folder)
        if name in BASE:
            (site_packages(name) / "base.pth").write_text(f"{site_packages(BASE[name])}\n")
        install = (python(name), "-m", "pip", "install", "--no-input", "--progress-bar=off")
        run(log, *install, *needs(name))
        if name in ALONE:
            run(log, *install, "--no-deps", *ALONE[name])
    except subprocess.CalledProcessError as failed:
        return f"cannot be installed: status {failed.returncode}: {why(log)}"
    except StopIteration:
        return f"cannot be installed: it needs the environment of {BASE[name]}"
    done.write_text(stamp(name))
    return None
