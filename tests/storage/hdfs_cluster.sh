#!/usr/bin/env bash
# hdfs_cluster.sh SERVERS FOLDER... - a real HDFS, started by the script SERVERS, with the programs of FOLDERs: every
# outcome equals that of local files. Skips (77) where there is no HDFS: `tests/servers hdfs install` gets it.
set -euo pipefail
servers=$1
shift
for folder; do
    PATH=$(realpath "$folder"):$PATH
done
[ -x "$servers" ] || { echo "no $servers"; exit 77; }
export LC_ALL=C IMREC_SERVERS_INSTALL=${IMREC_SERVERS_INSTALL:-no} IMREC_SERVERS_RUN=
here=$(mktemp -d)
IMREC_SERVERS_RUN=$here/run # a server of its own: another test may have one
trap '"$servers" hdfs stop >/dev/null 2>&1 || true; rm -rf "$here"' EXIT
variables=$("$servers" hdfs start) || exit
eval "$variables"
cd "$here"

wrong() {
    echo "wrong: $*"
    exit 1
}
web=http://${IMREC_TEST_WEBHDFS#webhdfs://}
web=${web/\/bucket//webhdfs/v1/bucket}

listed() { # listed FOLDER: its names, in order
    curl -fsS "$web/$1?op=LISTSTATUS&user.name=$HADOOP_USER_NAME" | grep -o '"pathSuffix":"[^"]*"' | cut -d'"' -f4
}
same() { # same LOCAL FOLDER: the same names, the same bytes
    local name
    [ "$(ls "$1")" = "$(listed "$2")" ] || wrong "$2 has $(listed "$2" | xargs), not those of $1"
    for name in $(listed "$2"); do
        curl -fsSL "$web/$2/$name?op=OPEN&user.name=$HADOOP_USER_NAME" | cmp - "$1/$name" || wrong "$2/$name"
    done
}
fail_over() {
    touch "$IMREC_TEST_HDFS/failover"
    while [ -e "$IMREC_TEST_HDFS/failover" ]; do
        sleep 0.1
    done
}

# Packed: the first NameNode of the service is the standby.
make_images "$here"
rm source/bee/{torn,text,empty}.jpg # what is skipped makes the exit status 3
mkdir local of
im2rec --quiet --shards 2 source local/t.rec 2>/dev/null
im2rec --quiet --shards 2 source "$IMREC_TEST_BUCKET/a set/t.rec" 2>/dev/null
same local a%20set
imrec verify "$IMREC_TEST_BUCKET/a set/" | grep -q 'nothing wrong' || wrong verify
if im2rec --quiet --shards 2 source "$IMREC_TEST_BUCKET/a set/t.rec" 2>message; then
    wrong "a set was overwritten without --force"
fi
im2rec --quiet --force --shards 2 source "$IMREC_TEST_BUCKET/a set/t.rec" 2>/dev/null
same local a%20set

# Read: every partition has the same batches, shuffled or not.
batches() { # batches SPEC OUT NUMBER OF [KEY=VALUE]: the batches of a partition
    imrec batches --count=3 --out="$2" "$1" data_shape=3,32,32 batch_size=4 num_parts="$4" part_index="$3" "${@:5}" \
        >/dev/null
}
for parts in 1 2 3 4 5 6 7 8; do
    for ((part = 0; part < parts; part++)); do
        batches local/ "of/local-$parts-$part" $part $parts shuffle=$((part % 2))
        batches "$IMREC_TEST_BUCKET/a set/" "of/hdfs-$parts-$part" $part $parts shuffle=$((part % 2))
        diff -r "of/local-$parts-$part" "of/hdfs-$parts-$part" >/dev/null || wrong "partition $part of $parts"
    done
done
batches "$IMREC_TEST_WEBHDFS/a set/" of/web 0 1 shuffle=0
diff -r of/web of/local-1-0 >/dev/null || wrong "webhdfs://"

# A position of files continues in HDFS.
for set in local/ "$IMREC_TEST_BUCKET/a set/"; do
    imrec batches --count=2 --out="of/next" --from=of/local-2-1/position.json "$set" data_shape=3,32,32 batch_size=4 \
        num_parts=2 part_index=1 shuffle=1 >/dev/null
    if [ -e of/first ]; then
        diff -r of/first of/next >/dev/null || wrong "a position"
    fi
    rm -rf of/first
    mv of/next of/first
done

# Killed while it packs, and resumed.
killed=0
for tenths in 3 9 14 18 5 22 11; do
    resume=$([ $killed -eq 0 ] || echo --resume)
    # shellcheck disable=SC2086 # no word, or one
    im2rec --quiet $resume --shards 2 source "$IMREC_TEST_BUCKET/killed/t.rec" 2>/dev/null &
    sleep "$((tenths / 10)).$((tenths % 10))"
    kill -9 $! 2>/dev/null || break # it was faster
    wait $! 2>/dev/null || true
    killed=$((killed + 1))
done
wait
im2rec --quiet --resume --shards 2 source "$IMREC_TEST_BUCKET/killed/t.rec" 2>message || grep -q 'nothing to resume\|complete' message ||
    wrong "resume: $(cat message)"
same local killed

# The other NameNode becomes the active one, and back; then all of them restart.
fail_over
imrec verify "$IMREC_TEST_BUCKET/a set/" | grep -q 'nothing wrong' || wrong "verify after a failover"
im2rec --quiet --shards 2 source "$IMREC_TEST_BUCKET/other/t.rec" 2>/dev/null
fail_over
same local other
im2rec --quiet --shards 2 source "$IMREC_TEST_BUCKET/restarted/t.rec" 2>message &
until listed restarted 2>/dev/null | grep -q journal || ! kill -0 $! 2>/dev/null; do
    sleep 0.1 # who has not had an answer yet does not wait for one
done
"$servers" hdfs down 2>/dev/null
"$servers" hdfs up 2>/dev/null
wait $! || wrong "packing during a restart: $(cat message)"
same local restarted
imrec verify "$IMREC_TEST_BUCKET/other/" | grep -q 'nothing wrong' || wrong "verify after a restart"
echo "packed, killed $killed times, read, failed over, restarted: all is as local files are"
