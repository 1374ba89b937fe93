#!/usr/bin/env bash
# run.sh install [controller] | IM2REC PHOTOS [controller] - the tests of examples/kubernetes/pack.yaml, in Go; with
# `controller` also under the Job controller of Kubernetes.
#
# `install` gets what they need, a Go of at least 1.25 and the modules of go.sum, and compiles them (a minute; with
# `controller` five). Without, nothing is downloaded: what is not here is skipped (77), and without the S3 server of
# tests/servers sets are packed into files alone. Packs the shared photographs, or where they are missing PHOTOS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
NAME=kubernetes HERE=$here/../support/servers
# shellcheck source=tests/support/servers/common.sh
. "$HERE/common.sh"
say() { echo "tests/kubernetes/run.sh: $*" >&2; }
may_fetch() { [ "$mode" = install ] || cannot "$1 is not installed: tests/kubernetes/run.sh install"; }
mode=$1 tags=(-tags "${!#}")
[ "${!#}" = controller ] || tags=()
if [ "$mode" != install ]; then
    IM2REC=$(realpath "$1")
    IMREC_PHOTOS=$(realpath "$2")
    shared=${IMREC_SHARED:-$here/../../../shared}/data/photos
    [ ! -d "$shared" ] || IMREC_PHOTOS=$(realpath "$shared")
    export IM2REC IMREC_PHOTOS IMREC_SERVERS_INSTALL=no
fi
mkdir -p "$CACHE" 2>/dev/null || cannot "no folder $CACHE: set IMREC_SERVERS_CACHE"
find_go 25
cd "$here"
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0
if [ "$mode" = install ]; then
    quietly "modules of Kubernetes" "$GO" vet ${tags[@]+"${tags[@]}"} .
    exit 0
fi
export GOPROXY=off
"$GO" list -deps -test ${tags[@]+"${tags[@]}"} . >/dev/null 2>&1 ||
    cannot "the modules of go.sum are not here: tests/kubernetes/run.sh install ${tags[*]+controller}"
unformatted=$("$(dirname "$(command -v "$GO")")/gofmt" -l .)
[ -z "$unformatted" ] || fail "not as gofmt writes it: $unformatted"

work=$(mktemp -d)
export IMREC_SERVERS_RUN=$work/run
leave() {
    "$HERE/../../servers" s3 stop || true
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 143' TERM INT
unset IMREC_BUCKETS
status=0
variables=$("$HERE/../../servers" s3 start) || status=$?
case $status in
0)
    eval "$variables"
    export IMREC_BUCKETS=$work/run/s3/data
    ;;
77) ;; # it has said why
*) exit $status ;;
esac
"$GO" vet ${tags[@]+"${tags[@]}"} .
"$GO" test ${tags[@]+"${tags[@]}"} -count=1 -v .
