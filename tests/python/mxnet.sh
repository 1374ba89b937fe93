#!/usr/bin/env bash
# mxnet.sh VENV - compares with MXNet itself what is read of its files and written for it; skipped where VENV lacks it.
if ! "$1/bin/python" -W ignore -c 'import cv2, mxnet, pytest, imrec' >/dev/null 2>&1; then
    echo "skipped: no MXNet in $1: tools/dev/python_venv mxnet, then build/release"
    exit 77
fi
"$1/bin/python" -c 'from importlib.metadata import version as v
print("mxnet", v("mxnet"), "numpy", v("numpy"), "opencv", v("opencv-python-headless"))'
exec "$1/bin/python" -m pytest -q -p no:cacheprovider -W ignore "$(dirname "$0")/mxnet_files.py"
