# What is not packed is named with its reason: ten of them, then how many of each reason.
make_images .
for i in 0 1 2 3 4 5 6 7 8 9; do
    printf 'x' >"source/ant/bad$i.jpg"
done
printf 'x' >$'source/cow/\x1b[31mred\xff.jpg'
im2rec --no-shuffle --resize 32 --report all source a.rec >/dev/null
echo "status $?"
grep -c skipped all
im2rec --no-shuffle --resize 32 --json source b.rec |
    grep -A 5 skipped_by_reason
im2rec --no-shuffle --resize 32 --quiet source c.rec # says nothing
echo "status $?"
im2rec --no-shuffle --max-pixels 1 source/bee d.rec --class-from flat # not one
echo "status $?"
