# Runs that end early, and sets that are whole already: what is said, and the status.
make_images .
try() {
    im2rec --quiet "$@"
    echo "status $?"
}
try --max-skipped 2 --no-shuffle source a.rec
ls a.*
try --max-skipped 2 --no-shuffle --resume source a.rec
try --max-skipped 11.2% --no-shuffle --resume source a.rec
im2rec --no-shuffle --resume source a.rec; echo "status $?"
im2rec --no-shuffle --resume --json source a.rec | grep -E '"(packed|skipped|was_complete)"'
try --no-shuffle --resume --quality 80 source a.rec
rm a.idx
try --no-shuffle --resume source a.rec
try --max-skipped many source b.rec
try --max-skipped 5 --list source b
ls b* 2>&1
exit 0
