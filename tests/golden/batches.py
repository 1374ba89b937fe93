"""imrec batches: order, positions, ends, partitions, damage and labels; augment.py has the pixels."""
import augment
from case import lines
from dump import dump, dumped, going_on, keep_whole

PASSED, SHARDS = "out/pack/passed/set.rec", "out/pack/shards_3"
WINDOWS = "shuffle_chunk=4096 shuffle_window=32768"
SMALL = "data_shape=3,16,16 batch_size=8 dtype=uint8"
SOURCES = {
    "rec": PASSED,
    "indexed": PASSED + " path_imgidx=auto",
    "shards": SHARDS,
    "indexed_shards": SHARDS + "/set.manifest.json path_imgidx=auto",
    "cbf": "out/pack/cbf_chunks",
    "values": "out/pack/pixels/set.cbf",
    "ppm": "in/all.ppm source=./libppm.so:ppm",
    "again": PASSED + " source=./libsources.so:again",
}

IN_ORDER = lines("""
    plain
    num_parts=3 part_index=1
    batch_size=7 last_batch=repeat
    batch_size=7 last_batch=wrap
    epoch_size=20
    num_parts=3 part_index=1 equal_batches=1
""")
SHUFFLED = lines("""
    plain
    seed=5
    seed=5 seed_aug=3 rand_crop=1
    batch_size=7 last_batch=partial
    batch_size=64
    num_parts=3 part_index=0
    num_parts=3 part_index=1 seed=2
    num_parts=3 part_index=2 last_batch=repeat
    num_parts=3 part_index=1 equal_batches=1
    num_parts=47 part_index=46 equal_batches=1
    batch_size=7 last_batch=repeat
    batch_size=7 last_batch=drop
    batch_size=7 last_batch=wrap
    batch_size=7 last_batch=pad
    round_batch=1
    epoch_size=20
    epoch_size=20 batch_size=7 last_batch=partial
    epoch_size=50 last_batch=wrap
    epoch_size=FULL_DATA_SWEEP
    epoch_size=INFINITELY_REPEAT
    max_samples=55 batch_size=9
    keep_in_memory=1
    preprocess_threads=1 prefetch_buffer=1
    preprocess_threads=5 prefetch_buffer=8
""")
IN_WINDOWS = lines("""
    plain
    seed=5
    num_parts=3 part_index=1
    keep_in_memory=1
    batch_size=7 last_batch=repeat
    equal_batches=1 num_parts=4 part_index=3
    shuffle_chunk_seed=9
    shuffle_chunk=8192 shuffle_window=65536
    shuffle_window=8192
    preprocess_threads=5
    drop_behind=1
    epoch_size=30 last_batch=wrap
    on_error=replace
""")
CHANGES = lines("""
    batch_size=5
    last_batch=wrap
    epoch_size=30
    num_views=2
    data_shape=3,20,20
    preprocess_threads=3
    prefetch_buffer=5
    rand_mirror=1
    dtype=float16
    keep_in_memory=1
    on_error=skip
    seed=6
    shuffle=0
    num_parts=2
    equal_batches=1
    path_imgidx=auto
    shuffle_chunk=4096 shuffle_window=32768
    seed_aug=3
""")
LABELS = lines("""
    path_imglist=in/lists/new.lst label_width=2
    path_imglist=in/lists/new.lst label_width=2 dtype_label=float64
    path_imglist=in/lists/one.lst dtype_label=int64
    path_imglist=in/lists/wide.lst dtype_label=int64
    path_imglist=in/lists/wide.lst
    dtype_label=int64
    dtype_label=float64
    num_classes=4
    num_classes=2 on_error=skip
""")


def orders():
    for source, where in SOURCES.items():
        for shuffle, kinds in ((0, IN_ORDER), (1, SHUFFLED)):
            for words in kinds:
                words = f"shuffle={shuffle} {words}"
                yield f"order/{source} {words}", going_on(f"{where} {SMALL} {words}")
    for source in "rec", "shards":
        for words in IN_WINDOWS:
            yield f"window/{source} {words}", going_on(f"{SOURCES[source]} {SMALL} shuffle=1 {WINDOWS} {words}")
        yield f"window/{source} shuffle_chunk_size=1", going_on(f"{SOURCES[source]} {SMALL} shuffle_chunk_size=1")
    yield "order/an empty partition", dumped(f"{SOURCES['indexed']} {SMALL} num_parts=47 part_index=46", 2)


def changed(words, change):
    def run(case):
        dump(case, "half", words, 6)
        keep_whole(case, "rest", dump(case, "rest", f"{words} {change}", 4, start="half"))
    return run


def in_steps(words):
    def run(case):
        start = None
        for i in range(9):
            keep_whole(case, f"step{i}", dump(case, f"step{i}", words, 1 + i % 3, start=start))
            start = f"step{i}"
    return run


def restored():
    """From a position with options that may change, and with some that may not."""
    for source in "rec", "indexed", "cbf":
        for change in CHANGES:
            yield f"restored/{source} {change}", changed(f"{SOURCES[source]} {SMALL} shuffle=1 seed=1", change)
    for source in "shards", "indexed_shards", "values":
        windows = WINDOWS if source == "shards" else ""
        yield f"restored/{source} step by step", in_steps(f"{SOURCES[source]} {SMALL} shuffle=1 {windows}")


def damaged_records(kind, index):
    where = f"out/broken/{kind}/set.rec {SMALL} path_imgidx={index}"
    name = f"damage/{kind} path_imgidx={index}"
    if index == "auto" and kind in ("gone", "twice"): # an index that does not fit is refused
        yield name, dumped(where, 1)
        return
    for on_error in "stop", "skip", "replace":
        yield f"{name} on_error={on_error}", going_on(f"{where} on_error={on_error} batch_size=7 shuffle=1 {WINDOWS}")
    for check in "verify_checksums=1", "verify_decode=1", "last_batch=partial", "num_parts=2 part_index=1":
        yield f"{name} {check}", dumped(f"{where} on_error=skip {check}", 9)


def damaged():
    for kind in "head", "pixels", "image", "length", "tail", "gone", "more", "twice":
        for index in "none", "auto":
            yield from damaged_records(kind, index)
    yield "damage/cut_cbf", dumped(f"out/broken/cut_cbf {SMALL}", 1)
    for on_error in "stop", "skip", "replace":
        words = f"{SMALL} shuffle=1 on_error={on_error}"
        yield f"damage/cbf on_error={on_error}", going_on(f"out/broken/cbf {words}")
        for check in "none", "header":
            yield f"damage/check_{check} on_error={on_error}", going_on(f"out/pack/check_{check}/set.rec {words}")
    for words in ("max_pixels=8000 on_error=skip", "max_pixels=8000 on_error=replace", "memory_limit=1000",
                  "label_width=2 on_error=skip"):
        yield "damage/" + words, dumped(f"{PASSED} {SMALL} {words}", 5)


def labels():
    for words in LABELS:
        yield "labels/" + words, dumped(f"out/pack/share/set.rec {SMALL} {words}", 4)
    for where in "out/pack/labels/set.rec", "out/pack/cbf_labels/set.cbf":
        for width in 3, 2, 1, 4:
            yield f"labels/{where[-3:]} label_width={width}", dumped(f"{where} {SMALL} label_width={width}", 2)
    shard = "out/pack/shards_2/set-00001-of-00002"
    for words in "allow_missing=1", f"path_imgidx={shard}.idx", "ctx=cpu device_id=1 verbose=0":
        yield "labels/" + words, dumped(f"{shard}.rec {SMALL} {words}", 2)


def cases():
    for family in orders, restored, damaged, labels, augment.cases:
        yield from family()
