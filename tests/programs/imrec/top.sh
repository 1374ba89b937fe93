#!/usr/bin/env bash
# Wrong usage of top, and sources that cannot be read. (Running loaders: tests/python/test_top.py.)
imrec top; echo "exit $?"
imrec top --interval 0 a.prom; echo "exit $?"
imrec top --once a.prom; echo "exit $?"
printf 'imrec_images_total{rank="0",ranks="1",set="\x1b[2J.rec"} 5\nimrec_epoch{rank="0",ranks="1",set="\x1b[2J.rec"} 2\n' >a.prom
imrec top --count 1 a.prom; echo "exit $?"
imrec top --count 1 a.prom b.prom | tail -1
touch -d "1 minute ago" a.prom
imrec top --count 1 --json a.prom; echo "exit $?"
