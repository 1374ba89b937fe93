# A folder of classes: names of outputs, list, classes, report, status 3 for what was skipped.
make_images .
im2rec --quiet --no-shuffle --resize 32 --report report.jsonl source out.rec
echo "status $?"
ls -A
cat out.classes.txt
head -n 3 out.lst
sort report.jsonl
im2rec --quiet source/ant none.rec; echo "status $?"
