#!/usr/bin/env bash
# tensorflow.sh VENV IMREC - compares with TensorFlow itself what is read of its files and written for it; skipped where VENV
# lacks it.
if ! TF_CPP_MIN_LOG_LEVEL=3 "$1/bin/python" -c 'import tensorflow, pytest, imrec' >/dev/null 2>&1; then
    echo "skipped: no TensorFlow in $1: tools/dev/python_venv tensorflow, then build/release"
    exit 77
fi
"$1/bin/python" -c 'from importlib.metadata import version as v
print("tensorflow", v("tensorflow-cpu"))'
export IMREC=$2 TF_CPP_MIN_LOG_LEVEL=3
exec "$1/bin/python" -m pytest -q -p no:cacheprovider "$(dirname "$0")/tensorflow_files.py"
