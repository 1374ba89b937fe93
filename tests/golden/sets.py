"""imrec's commands for packed sets: what is told of them, and the sets that are made of them."""
import base64
import os
import re
import shutil
import struct

from case import files_below, lines, read

PACKED = """
    plain seed flat leaf exts mixed mixed_as_they_are mixed_to_png mixed_passed colours colours_passed check_none
    check_header bad_accepted sounds resize_2 crop quality_1 grey augment_geometry augment_points shard_size shards_7
    labels coco coco_new_classes voc points poses masks pairs drawn_stored cbf cbf_chunks cbf_labels coco_cbf pixels
    pixels_grey cbf_augmented append append_shard append_new_classes classic_keys/set.rec.part001 resume
""".split()
EXPORTED = """
    plain mixed_passed colours labels coco points masks_passed cbf pixels pixels_grey sounds shards_3 append_new_classes
    check_none coco_cbf
""".split()
BROKEN = "head pixels image length tail gone more twice".split()
ALIASES = {"PASSED": "out/pack/passed/set.rec", "SHARDS": "out/pack/shards_3", "IMAGES": "out/pack/cbf/set.cbf",
           "SHARE": "out/pack/share/set.rec", "LABELS": "out/pack/labels/set.rec",
           "MASKS": "out/pack/masks_passed/set.rec", "MIXED": "out/pack/mixed_passed/set.rec",
           "VALUES": "out/pack/pixels/set.cbf", "BROKEN": "out/broken"}

# The words behind imrec. What is made is OUT.
COMMANDS = lines("""
    ls --from 7 --limit 5 SHARDS
    info --classes 2 SHARDS
    info --allow-missing SHARDS
    info out/pack/shards_2/set-00001-of-00002.rec
    verify --max-pixels 8000 SHARDS
    ls PASSED IMAGES
    repair SHARDS OUT.rec
    repair --decode out/pack/check_none/set.rec OUT.rec
    merge SHARDS OUT.rec
    merge --renumber --no-classes PASSED LABELS OUT.rec
    merge --renumber --shards 3 PASSED PASSED OUT.rec
    merge --shard-size 50K SHARDS OUT.rec
    merge IMAGES OUT.rec
    merge out/pack/cbf_chunks/set.cbf OUT.rec
    merge --renumber --no-classes out/pack/points/set.rec out/pack/masks/set.rec OUT.rec
    merge PASSED PASSED OUT.rec
    merge --renumber PASSED MIXED OUT.rec
    merge --renumber --no-classes PASSED MIXED OUT.rec
    merge --allow-missing out/pack/shards_2/set-00000-of-00002.rec OUT.rec
    merge BROKEN/head/set.rec OUT.rec
    split --shards 2 PASSED OUT.rec
    split --shards 5 PASSED OUT.rec
    split --shard-size 30K --renumber SHARE OUT.rec
    split --shards 2 --no-classes SHARDS OUT.rec
    sample --records 9 PASSED OUT.rec
    sample --records 9 --rest PASSED OUT.rec
    sample --fraction 0.3 --seed 5 PASSED OUT.rec
    sample --fraction 0.3 --seed 5 --rest PASSED OUT.rec
    sample --records 9 --shards 2 --renumber PASSED OUT.rec
    sample --fraction 0 PASSED OUT.rec
    sample --fraction 1 PASSED OUT.rec
    sample --records 99 PASSED OUT.rec
    sample --records 5 IMAGES OUT.rec
    relabel SHARE in/lists/new.lst OUT.rec
    relabel --class-list in/lists/classes.txt SHARE in/lists/one.lst OUT.rec
    relabel --shards 2 --renumber SHARE in/lists/new.lst OUT.rec
    relabel --unlisted stop PASSED in/told/boxes.lst OUT.rec
    relabel --unlisted keep PASSED in/told/boxes.lst OUT.rec
    relabel --unlisted drop PASSED in/told/boxes.lst OUT.rec
    index --keys id --out OUT.idx PASSED
    index --keys counter --out OUT.idx LABELS
    index --keys id --out OUT.idx LABELS
    index --keys counter --out OUT.idx out/pack/augment_geometry/set.rec
""")
OF_BROKEN = lines("""
    repair BROKEN OUT.rec
    repair --keys counter BROKEN OUT.rec
    repair --no-checksums BROKEN OUT.rec
    repair --drop-unmatched BROKEN OUT.rec
    repair --decode BROKEN OUT.rec
    repair --no-checksums --decode BROKEN OUT.rec
    index --out OUT.idx BROKEN
    merge --on-error skip BROKEN OUT.rec
    split --shards 2 --on-error skip BROKEN OUT.rec
    sample --records 12 --on-error skip BROKEN OUT.rec
""")
CATS = lines("""
    PASSED 4
    PASSED 4 --record
    PASSED --offset 0
    SHARDS 33
    IMAGES 5
    VALUES 5
    MASKS 3 --mask
    MASKS 3 --record
    PASSED 4711
    PASSED 4 --mask
    PASSED --offset 2
    SHARDS --offset 0 --shard 2
    LABELS 493
    BROKEN/head/set.rec 2
    BROKEN/pixels/set.rec 4
    out/pack/sounds/set.rec 1
""")
MOVED = "OUT shuffle=1 rand_crop=1 rand_mirror=1 max_rotate_angle=20 data_shape=3,48,48 preprocess_threads=1"
GRID = "--augmented --grid 3 out/pack/SET/set.rec OUT data_shape=3,32,32 resize=36"
SHEETS = lines(f"""
    augmented: --augmented PASSED {MOVED}
    augmented boxes: --augmented out/pack/boxes/set.rec {MOVED} boxes=1 label_width=-1
    augmented points: --augmented out/pack/points/set.rec {MOVED} boxes=1 label_width=-1 keypoints=2 masks=uint8
    augmented views: --augmented PASSED {MOVED} num_views=3 batch_size=6
    grid: {GRID.replace("SET", "passed")}
    grid of boxes: {GRID.replace("SET", "boxes")}
    grid of points: {GRID.replace("SET", "points")} masks=uint8 keypoints=2
    grid of masks: {GRID.replace("SET", "masks_passed")} masks=uint8
    count: --count 5 PASSED OUT
    part: --augmented --count 3 PASSED {MOVED} num_parts=3 part_index=1
""")


def full(words, out=""):
    for alias, path in ALIASES.items():
        words = words.replace(alias, path)
    return words.replace("OUT", out).split()


def made(words):
    """A command that prints JSON, and may write what stands for OUT."""
    def run(case):
        command, *rest = full(words, case.folder + "/new")
        case.keep_json("json", case.run("imrec", command, "--json", *rest))
        case.keep_files()
    return run


def told(where):
    def run(case):
        for command in "info", "ls":
            case.keep_json(command, case.run("imrec", command, "--json", where))
        case.keep("list", case.run("imrec", "ls", where))
        case.keep_json("verify", case.run("imrec", "verify", "--json", "--threads", 3, where))
        case.keep_json("headers", case.run("imrec", "verify", "--json", "--no-decode", where))
    return run


def printed(words):
    def run(case):
        case.keep("bytes", case.run("imrec", "cat", *full(words)))
        case.keep_json("json", case.run("imrec", "cat", *full(words), "--json"))
    return run


def exported(*words):
    """The list, and one sum for all images and their names."""
    def run(case):
        new = case.folder + "/new"
        case.keep_json("json", case.run("imrec", "export", "--json", *words, new))
        case.keep_file(new + "/export.lst")
        files = files_below(case.at(new))
        case.keep("files", b"".join(os.path.relpath(path, case.root).encode() + b"\0" + read(path) for path in files))
    return run


def exported_bare(case):
    """Without a list beside the shard."""
    shutil.copyfile(case.at(ALIASES["PASSED"]), case.at(case.folder + "/bare.rec"))
    exported(case.folder + "/bare.rec")(case)


def sheet(words):
    """A page's images alone: the rest of it is words."""
    def run(case):
        page = case.folder + "/page.html"
        case.run("imrec", "view", *full(words, page))
        with open(case.at(page), "rb") as f:
            images = re.findall(rb"data:image/[a-z]+;base64,([A-Za-z0-9+/=]+)", f.read())
        case.keep(f"{len(images)} images", b"".join(base64.b64decode(image) for image in images))
    return run


# ---- faces ------------------------------------------------------------------------------------------


def record(key, labels, image=b""):
    """An image record as dmlc writes it."""
    flag = len(labels) if len(labels) > 1 else 0
    head = struct.pack("<IfQQ", flag, 0 if flag else labels[0], key, 0)
    body = head + struct.pack(f"<{flag}f", *labels[:flag]) + image
    return struct.pack("<II", 0xCED7230A, len(body)) + body + b"\0" * (-len(body) % 4)


def face_set(case, rec):
    """A set as insightface makes them: nine photos, a header, and identities that name ranges of keys."""
    photos = [path for path in files_below(case.at("in/photos"))][:9]
    entries = [(1 + i, [(i >= 4) + (i >= 6), 1], read(path)) for i, path in enumerate(photos)]
    entries += [(0, [10, 13], b""), (10, [1, 5], b""), (11, [5, 7], b""), (12, [7, 10], b"")]
    data, index = b"", ""
    for key, labels, image in entries:
        index += f"{key}\t{len(data)}\n"
        data += record(key, labels, image)
    with open(case.at(rec), "wb") as f:
        f.write(data)
    with open(case.at(rec[:-3] + "idx"), "w", encoding="utf-8") as f:
        f.write(index)


def faces(case):
    rec = case.folder + "/train.rec"
    face_set(case, rec)
    told(rec)(case)
    for i, words in enumerate(("", "path_imgidx=auto", "shuffle=1", "path_imgidx=auto shuffle=1")):
        small = "batch_size=3 data_shape=3,16,16 label_width=2".split() + words.split()
        case.run("imrec", "batches", "--count", 3, "--out", f"{case.folder}/{i}", rec, *small)
    case.run("imrec", "repair", "--json", rec, case.folder + "/whole.rec")
    case.run("imrec", "split", "--json", "--shards", 2, rec, case.folder + "/cut.rec")
    case.run("imrec", "sample", "--json", "--records", 4, rec, case.folder + "/four.rec")
    case.keep_files()


def cases():
    for name in PACKED:
        yield "told/" + name, told("out/pack/" + name)
    for name in BROKEN + ["cbf", "cut_cbf"]:
        yield "told/broken " + name, told("out/broken/" + name)
    yield "told/faces", faces
    for words in COMMANDS:
        yield "set/" + words.replace(" OUT.rec", "").replace(" --out OUT.idx", ""), made(words)
    for name in BROKEN:
        for words in OF_BROKEN:
            words = words.replace("BROKEN", f"out/broken/{name}/set.rec")
            yield f"set/{name}: {words.split(' out/')[0].replace(' --out OUT.idx', '')}", made(words)
    for words in CATS:
        yield "cat/" + words, printed(words)
    for name in EXPORTED:
        yield "export/" + name, exported("out/pack/" + name)
    for name in BROKEN:
        yield "export/broken " + name, exported("--on-error", "skip", f"out/broken/{name}/set.rec")
    yield "export/stops", exported("out/broken/head/set.rec")
    yield "export/without a list", exported_bare
    for name in "plain", "mixed_passed", "colours", "cbf", "pixels", "boxes", "points", "masks", "poses":
        yield "view/" + name, sheet(f"out/pack/{name} OUT")
    for line in SHEETS:
        name, words = line.split(": ", 1)
        yield "view/" + name, sheet(words)
