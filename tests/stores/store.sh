#!/usr/bin/env bash
# store.sh NAME TESTS PHOTOS FOLDER... - a set on the server NAME of TESTS/servers equals the same set in files.
#
# Packs PHOTOS, puts the set on the server, and compares what is read there with what is read from files, byte for byte:
# every partition, positions of one in the other, a server that ends and comes back in mid-sweep. A shard that is
# replaced or deleted in mid-sweep is named. Where im2rec can write, it is killed at random moments (20;
# IMREC_STORE_KILLS) and resumed: what is there in the end is what it packs into files.
#
# FOLDERs, with the programs, come in front of PATH. Skipped (77) where the server is not installed: tests/servers NAME
# install.
set -euo pipefail
name=$1 servers=$(realpath "$2")/servers photos=$(realpath "$3")
shift 3
for folder; do
    PATH=$(realpath "$folder"):$PATH
done
export LC_ALL=C IMREC_SERVERS_INSTALL=${IMREC_SERVERS_INSTALL:-no}
work=$(mktemp -d)
export IMREC_SERVERS_RUN=$work/run
leave() {
    "$servers" "$name" stop || true
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 143' TERM INT
cd "$work"
passed=0
pass() {
    echo "ok: $*"
    passed=$((passed + 1))
}
die() {
    echo "not ok: $*"
    exit 1
}

partitions="1 2 3 4 5 6 7 8" kills=${IMREC_STORE_KILLS:-20}
case $name in s3-swift) partitions="1 3 8" kills=${IMREC_STORE_KILLS:-4} ;; esac # ten times as slow as the others

status=0
variables=$("$servers" "$name" start 2>reason) || status=$?
if [ $status -eq 77 ]; then echo "skipped: $(tail -n 1 reason)"; fi
[ $status -eq 0 ] || { cat reason; exit $status; }
eval "$variables"

# ---- how a file gets into the bucket, and out of it ----------------------------------------

s3_curl() { # with this client's own signatures, so that they are not imrec's alone
    printf 'url = "http://%s:%s@%s"\n' "${AWS_ACCESS_KEY_ID/:/%3A}" "$AWS_SECRET_ACCESS_KEY" \
        "${AWS_ENDPOINT_URL#http://}/${IMREC_TEST_BUCKET#s3://}/$1" |
        curl -fsS -K - --aws-sigv4 "aws:amz:$AWS_REGION:s3" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "${@:2}"
}
gs_as_s3() {
    AWS_ACCESS_KEY_ID=$GS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY=$GS_SECRET_ACCESS_KEY AWS_REGION=auto \
        AWS_ENDPOINT_URL=$STORAGE_EMULATOR_HOST IMREC_TEST_BUCKET=s3://${IMREC_TEST_BUCKET#gs://} s3_curl "$@"
}
az_curl() {
    curl -fsS -H 'x-ms-version: 2021-08-06' "${@:2}" \
        "$AZURE_STORAGE_SERVICE_ENDPOINT/${IMREC_TEST_BUCKET##*/}/$1?$AZURE_STORAGE_SAS_TOKEN"
}
webhdfs() { echo "http${IMREC_TEST_WEBHDFS#webhdfs}/$1?user.name=$HADOOP_USER_NAME&op=$2" | sed 's|\(:[0-9]*\)/|\1/webhdfs/v1/|'; }
put() { # put FILE KEY
    case $name in
    http)
        mkdir -p "$(dirname "$IMREC_TEST_FOLDER/$2")"
        cp "$1" "$IMREC_TEST_FOLDER/$2.new" # a reader sees the old file or the new one
        mv "$IMREC_TEST_FOLDER/$2.new" "$IMREC_TEST_FOLDER/$2"
        ;;
    s3 | s3-swift) s3_curl "$2" -T "$1" ;;
    gcs-hmac) gs_as_s3 "$2" -T "$1" ;;
    gcs)
        curl -fsS -o /dev/null --data-binary "@$1" -H 'Content-Type: application/octet-stream' \
            "$STORAGE_EMULATOR_HOST/upload/storage/v1/b/imrec-test/o?uploadType=media&name=${2//\//%2F}"
        ;;
    hdfs) curl -fsSL -T "$1" "$(webhdfs "$2" 'CREATE&overwrite=true')" ;;
    az) az_curl "$2" -T "$1" -H 'x-ms-blob-type: BlockBlob' ;;
    *) die "$name: no way to put a file there" ;;
    esac
}
get() { # get KEY FILE
    case $name in
    http) cp "$IMREC_TEST_FOLDER/$1" "$2" ;;
    s3 | s3-swift) s3_curl "$1" -o "$2" ;;
    gcs-hmac) gs_as_s3 "$1" -o "$2" ;;
    gcs) curl -fsS -o "$2" "$STORAGE_EMULATOR_HOST/imrec-test/$1" ;;
    az) az_curl "$1" -o "$2" ;;
    hdfs) curl -fsSL -o "$2" "$(webhdfs "$1" OPEN)" ;;
    *) die "$name: no way to get a file from there" ;;
    esac
}
delete() { # delete KEY
    case $name in
    http) rm "$IMREC_TEST_FOLDER/$1" ;;
    s3 | s3-swift) s3_curl "$1" -X DELETE ;;
    gcs-hmac) gs_as_s3 "$1" -X DELETE ;;
    gcs) curl -fsS -o /dev/null -X DELETE "$STORAGE_EMULATOR_HOST/storage/v1/b/imrec-test/o/${1//\//%2F}" ;;
    hdfs) curl -fsS -o /dev/null -X DELETE "$(webhdfs "$1" DELETE)" ;;
    az) az_curl "$1" -X DELETE ;;
    *) die "$name: no way to delete a file there" ;;
    esac
}

# ---- the set: in files, and there ----------------------------------------------------------

# Each image 16 times: with the smallest windows below, a sweep has hundreds of reads.
im2rec --quiet --list "$photos" once
mkdir here other
awk -F '\t' -v OFS='\t' '{ for (i = 0; i < 16; i++) print 16 * NR + i, $2, $3 }' once.lst >here/many.lst
im2rec --quiet --pass-through --shards 5 here/many.lst "$photos" here/train.rec
# Other labels: shards of the same names and sizes, whose records are as good, but not the same.
awk -F '\t' -v OFS='\t' '{ $2 = $2 + 1; print }' here/many.lst >other/many.lst
im2rec --quiet --pass-through --shards 5 other/many.lst "$photos" other/train.rec
put_set() {
    local file
    for file in here/train*; do
        put "$file" "set/${file##*/}"
    done
}
put_set
local_set=here/train.manifest.json
there=$IMREC_TEST_BUCKET/set/train.manifest.json
shard=train-00003-of-00005.rec
small=("data_shape=3,64,64" dtype=uint8 batch_size=32 rand_crop=1 rand_mirror=1 seed=5 shuffle=1 preprocess_threads=2)
cells=(shuffle_window=1048576 shuffle_chunk=65536 path_imgidx=none) # several windows, and not too many requests
windows=(shuffle_window=131072 shuffle_chunk=16384 prefetch_buffer=1 path_imgidx=none)
[ "$name" != s3-swift ] || windows=("${cells[@]}" prefetch_buffer=1)

same_batches() { # same_batches COUNT OPTION...: from files and from there; $a and $b are their folders
    a=$work/a b=$work/b
    rm -rf "$a" "$b"
    imrec batches "$local_set" "${small[@]}" --count "$1" --out "$a" "${@:2}" >said.txt
    imrec batches "$there" "${small[@]}" --count "$1" --out "$b" "${@:2}" >>said.txt
    diff -r "$a" "$b" || die "batches differ: $*"
}

imrec info "$local_set" --json | sed 's|[^"]*/set/||; s|[^"]*here/||' >a.json
imrec info "$there" --json | sed 's|[^"]*/set/||; s|[^"]*here/||' >b.json
diff a.json b.json || die "info differs"
imrec verify --quiet "$there" >/dev/null || die "verify finds damage"
pass "the same card, and nothing is damaged"

says() { # says WORDS COMMAND...: it fails, and with these words
    local words=$1
    if "${@:2}" >said.txt 2>&1 || ! grep -qF -- "$words" said.txt; then die "no '$words': $(cat said.txt)"; fi
}
case $name in
s3 | gcs-hmac)
    for key in a.rec folder/ '*.rec'; do
        says "the server has no bucket 'imrec-test-none'" imrec ls "$IMREC_TEST_BUCKET-none/$key"
    done
    for variable in AWS_SECRET_ACCESS_KEY GS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID GS_ACCESS_KEY_ID AWS_REGION; do
        [ -n "${!variable:-}" ] || continue
        words="403 (forbidden); check" # of a key that nobody has, this server says so, by 404
        case $variable in *_ID) words="No user exists" ;; *_REGION) words="400 (bad request); check" ;; esac
        says "$words" env $variable=wrong imrec ls "$there"
    done
    pass "no such bucket, a wrong secret or region, a key that nobody has"
    ;;
esac

for parts in $partitions; do
    for ((part = 0; part < parts; part++)); do
        same_batches $((1024 / parts / 32 + 2)) "num_parts=$parts" "part_index=$part" "${cells[@]}"
    done
done
pass "partitions ($partitions), over the end of the sweep"
same_batches 40 path_imgidx=auto
same_batches 9 path_imgidx=auto num_parts=4 part_index=2
pass "with the index that lies there"

for order in path_imgidx=auto "${cells[*]}"; do
    # shellcheck disable=SC2086
    same_batches 11 $order
    cp a/position.json from_here.json
    cp b/position.json from_there.json
    for position in from_here from_there; do
        # shellcheck disable=SC2086
        same_batches 9 $order --from "$position.json"
    done
done
pass "positions of one continue in the other"

# ---- what happens in mid-sweep -------------------------------------------------------------

read_steps_of() { # read_steps_of SET OUT: starts a reader; ask and hear talk to it
    coproc READER { exec read_steps "$1" "$2" "${small[@]}" "${windows[@]}" 2>&1; }
}
ask() { echo "$1" >&"${READER[1]}"; }
hear() { # until the reader is done with what was asked; $said is its last line, and lost.txt has what it lost
    while IFS= read -r said <&"${READER[0]}"; do
        case $said in
        lost:*) echo "$said" >>lost.txt ;;
        *) return ;;
        esac
    done
    die "the reader ended"
}
part_of_sweep() { # part_of_sweep SET OUT: opened, three batches read
    : >lost.txt
    read_steps_of "$1" "$2"
    ask 3
    hear
    [ "$said" = read ] || die "$said"
}
rest_of_sweep() { # true if it was read to its end
    local reader=$READER_PID
    hear
    eval "exec ${READER[1]}>&-"
    wait "$reader" || true
    [ "$said" = end ]
}

part_of_sweep "$local_set" whole.bin
ask 1000
if ! rest_of_sweep || [ -s lost.txt ]; then die "the files are not read: $said"; fi

part_of_sweep "$there" again.bin
"$servers" "$name" down
ask 1000
sleep 1 # the reader meets the server that is not there
"$servers" "$name" up
rest_of_sweep || die "a server that comes back: $said"
cat lost.txt
cmp whole.bin again.bin || die "a server that comes back: other bytes"
pass "the server ended and came back in mid-sweep"

named() { # every loss, or the failure that ended the sweep, names the shard
    case $said in failed:*) echo "$said" >>lost.txt ;; esac
    [ -s lost.txt ] && ! grep -v "$shard" lost.txt
}
part_of_sweep "$there" replaced.bin
put other/$shard set/$shard
ask 1000
rest_of_sweep || true
if ! named || grep -v "another version" lost.txt; then die "a shard that was replaced in mid-sweep: $said"; fi
pass "replaced in mid-sweep: $(head -n 1 lost.txt)"

put here/$shard set/$shard
part_of_sweep "$there" deleted.bin
delete set/$shard
ask 1000
rest_of_sweep || true
named || die "a shard that was deleted in mid-sweep: $said"
pass "deleted in mid-sweep: $(head -n 1 lost.txt)"

put here/$shard set/$shard
same_batches 40 "${cells[@]}"
pass "all is there again"

# ---- packing into it -----------------------------------------------------------------------

pack() { # pack OUT OPTION...
    exec im2rec --quiet --resize 128 --threads 2 --shards 3 "${@:2}" here/many.lst "$photos" "$1"
}
killed_pack() { # killed_pack OUT SECONDS: true if it was done before
    local packer
    pack "$1" --resume &
    packer=$!
    sleep "$2"
    kill -9 $packer 2>/dev/null || true
    wait $packer 2>/dev/null
}
equal_set() { # equal_set KEY: the same files as in packed/
    local file
    for file in packed/train*; do
        get "$1/${file##*/}" got
        cmp "$file" got || die "$1/${file##*/} is not what is packed into files"
    done
}
case $name in
s3 | s3-swift | gcs-hmac | hdfs)
    mkdir packed
    (pack packed/train.rec)
    sets=0 killed=0
    while [ $killed -lt "$kills" ]; do
        delay=$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))
        if killed_pack "$IMREC_TEST_BUCKET/packed$sets/train.rec" "$delay"; then
            equal_set packed$sets
            sets=$((sets + 1))
        else
            killed=$((killed + 1))
        fi
    done
    (pack "$IMREC_TEST_BUCKET/packed$sets/train.rec" --resume)
    equal_set packed$sets
    imrec verify --quiet "$IMREC_TEST_BUCKET/packed$sets/train.manifest.json" >/dev/null || die "verify finds damage"
    pass "packed into $((sets + 1)) sets, killed $killed times"
    ;;
esac
echo "$passed passed"
