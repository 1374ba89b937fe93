# Plan, work and finish, each given twice: what is said, and the status.
make_images .
rm source/bee/text.jpg source/bee/torn.jpg
try() {
    im2rec "$@"
    echo "status $?"
}
plan() { try --plan job --shards 3 --quality 90 "$@" source a.rec; }
plan
im2rec --work job 1 | sed 's/[0-9.]* s$/TIME/'
try --work job 1
plan
plan --json | sed 's/^/json /'
plan --tasks 4
plan --resize 20
try --finish job
try --quiet --work job
try --quiet --finish job
plan
try --work job 0
try --quiet --finish job
im2rec --quiet --shards 3 --quality 90 source b.rec
for file in a-*; do
    cmp "$file" "b${file#a}"
done
rm a.manifest.json
plan
exit 0
