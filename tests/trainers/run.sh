#!/usr/bin/env bash
# run.sh VENV - runs the tests of Lightning, accelerate and Ray Train; skipped where VENV lacks them.
if ! "$1/bin/python" -c 'import accelerate, lightning, pytest, ray.train.torch, imrec.torch' >/dev/null 2>&1; then
    echo "skipped: no Lightning, accelerate or Ray in $1: tools/dev/python_venv trainers, then build/release"
    exit 77
fi
"$1/bin/python" -c 'from importlib.metadata import version as v
print(*(f"{name} {v(name)}" for name in ("torch", "lightning", "accelerate", "ray")), sep=", ")'
exec "$1/bin/python" -m pytest -q -p no:cacheprovider "$(dirname "$0")/trainers.py"
