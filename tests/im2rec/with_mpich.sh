#!/usr/bin/env bash
# with_mpich.sh SOURCE FOLDER COMMAND... - builds im2rec in FOLDER with Debian's MPICH, whichever MPI the default one is,
# then runs COMMAND. Skips (77) where there is no MPICH.
set -euo pipefail
source=$1 folder=$2
shift 2
if ! command -v mpicc.mpich >/dev/null || ! command -v mpiexec.mpich >/dev/null; then
    echo "skipped: no mpicc.mpich: tools/install_dependencies mpich"
    exit 77
fi
generator=()
if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
mkdir -p "$folder"
cmake -S "$source" -B "$folder" ${generator[@]+"${generator[@]}"} -DCMAKE_BUILD_TYPE=RelWithDebInfo -DIMREC_BUILD_TESTS=OFF \
    -DMPI_C_COMPILER=mpicc.mpich >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
cmake --build "$folder" --target im2rec im2rec-mpi -j "$(nproc)" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
exec "$@"
