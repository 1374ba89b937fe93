#!/usr/bin/env bash
# frameworks.sh VENV - runs the examples of trainers; skipped where VENV lacks pytest and torch.
if ! "$1/bin/python" -c 'import pytest, imrec.torch' >/dev/null 2>&1; then
    echo "skipped: no timm, torchvision, transformers, Lightning or accelerate in $1: tools/dev/python_venv frameworks, then build/release"
    exit 77
fi
"$1/bin/python" -c 'from importlib.metadata import version as v
print(*(f"{name} {v(name)}" for name in ("torch", "timm", "torchvision", "transformers", "lightning", "accelerate")), sep=", ")'
exec "$1/bin/python" -m pytest -q -p no:cacheprovider "$(dirname "$0")/frameworks.py" "$(dirname "$0")/../python/test_torch_detection.py"
