#!/usr/bin/env bash
# wheel.sh SOURCE FOLDER - the source distribution builds outside of a repository, without git, by pip; what it installs
# packs, reads and verifies in an empty environment, and brings the programs and the licence.
set -euo pipefail
cd "$1"
folder=$2 venv=build/venv
if ! "$venv/bin/python" -c 'import scikit_build_core' 2>/dev/null; then
    "$venv/bin/pip" --disable-pip-version-check -q install 'scikit-build-core>=0.11' >&2 || { echo "skipped: pip reaches no index" && exit 77; }
fi
rm -rf "$folder" && mkdir -p "$folder/without" && cd "$folder"
sdist=$("$1/tools/dev/build_sdist" "$folder")
printf '#!/bin/sh\necho "git was asked: $*" >>%s/asked\nexit 1\n' "$folder" >without/git
chmod +x without/git
mkdir tree && tar -xf "$sdist" -C tree --strip-components=1
[ ! -e tree/build ] || { echo "$sdist has what was built" && exit 1; }
python=$1/$venv/bin/python
PATH=$folder/without:$PATH "$python" -m pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation -w . ./tree >&2
[ ! -e asked ] || { cat asked && exit 1; }
wheel=$(ls imrec-*.whl)
case $wheel in
*-cp39-abi3-*) ;;
*) echo "$wheel is not for every Python" && exit 1 ;;
esac
"$python" -m venv --clear venv
venv/bin/pip --disable-pip-version-check -q install "./$wheel"
PATH=$PWD/venv/bin:/usr/bin:/bin venv/bin/python "$1/tests/python/installed.py" programs
ls venv/lib/python3*/site-packages/imrec-*.dist-info/licenses/LICENSE >/dev/null
grep -q '^License-Expression: Apache-2.0' venv/lib/python3*/site-packages/imrec-*.dist-info/METADATA
