"""im2rec: every kind of input, set and option. Later cases read what stands in out/pack/."""
import os
import shutil

from case import lines

ALIASES = {"PHOTOS": "in/photos", "MARKED": "in/marked/images",
           "COCO": "--annotations in/told/coco.json in/marked/images/all",
           "VOC": "--annotations in/told/voc in/marked/images/all",
           "MOVED": "rand_mirror=1 max_rotate_angle=20 max_shear_ratio=0.1 max_random_scale=1.2 min_random_scale=0.8 "
                    "fill_value=9 rand_crop=1 data_shape=3,60,60 resize=70"}

# NAME: the words behind im2rec. The set is OUT: set.cbf where the words say --format cbf, else set.rec.
FOLDERS = lines("""
    plain: PHOTOS OUT
    ordered: --no-shuffle PHOTOS OUT
    seed: --seed 7 PHOTOS OUT
    flat: --class-from flat in/photos/sea OUT
    leaf: --class-from leaf in OUT --exts .png,.bmp
    exts: --exts .gif,.webp,.tif in/mixed OUT
    mixed: in/mixed OUT
    mixed_as_they_are: --color -1 --no-shuffle in/mixed OUT
    mixed_to_png: --encoding png --color -1 --no-shuffle in/mixed OUT
    mixed_passed: --pass-through --no-shuffle in/mixed OUT
    colours: --encoding png --color -1 --quality 1 in/colours OUT
    colours_grey: --color 0 in/colours OUT
    colours_passed: --pass-through --check decode --no-shuffle in/colours OUT
    check_none: --pass-through --check none in/bad OUT
    check_header: --pass-through --check header in/bad OUT
    check_decode: --pass-through --check decode in/bad OUT
    bad: in/bad OUT
    bad_accepted: --accept-truncated in/bad OUT
    bad_stops: --on-error stop --no-shuffle --threads 1 in/bad OUT
    bad_too_many: --max-skipped 1 --no-shuffle --threads 1 in/bad OUT
    max_pixels: --max-pixels 8000 --pass-through PHOTOS OUT
    classes: --classes in/lists/classes.txt PHOTOS OUT
    sounds: --no-shuffle in/sounds OUT
""")
RESIZED = lines("""
    crop: --resize 48 --center-crop PHOTOS OUT
    quality_1: --quality 1 --resize 50 PHOTOS OUT
    quality_50: --quality 50 --resize 50 PHOTOS OUT
    quality_100: --quality 100 --resize 50 PHOTOS OUT
    png_1: --encoding png --quality 1 --resize 32 PHOTOS OUT
    png_9: --encoding png --quality 9 --resize 32 PHOTOS OUT
    grey: --color 0 --resize 50 PHOTOS OUT
""")
AUGMENTED = lines("""
    geometry: rand_mirror=1 max_rotate_angle=20 max_shear_ratio=0.1 max_random_scale=1.2 min_random_scale=0.8
    crops: random_resized_crop=1 min_random_area=0.3 max_aspect_ratio=0.4 data_shape=3,40,48
    colours: brightness=0.3 contrast=0.3 saturation=0.3 hue=0.2 pca_noise=0.1 random_grayscale=0.2 gaussian_blur=0.5
    hsl: random_h=30 random_s=40 random_l=50
    modern: rand_augment=2 rand_augment_magnitude=12 rand_crop=1 data_shape=3,56,56 pad=4
    trivial: trivial_augment=1 antialias=1 resize=60
""")
FILES = lines("""
    shards_2: --shards 2 PHOTOS OUT
    shards_3: --shards 3 PHOTOS OUT
    shards_7: --shards 7 PHOTOS OUT
    shard_size: --shard-size 40K --pass-through PHOTOS OUT
    threads_1: --threads 1 --resize 44 PHOTOS OUT
    threads_2: --threads 2 --resize 44 PHOTOS OUT
    threads_5: --threads 5 --resize 44 PHOTOS OUT
    little_memory: --memory 16M --threads 3 PHOTOS OUT
    part_0: --part 0/3 --pass-through in/lists/one.lst PHOTOS OUT
    part_1: --part 1/3 --pass-through in/lists/one.lst PHOTOS OUT
    part_2: --part 2/3 --pass-through in/lists/one.lst PHOTOS OUT
    passed: --pass-through --no-shuffle PHOTOS OUT
    share: --pass-through in/lists/one.lst PHOTOS OUT
    first_label: --pass-through in/lists/three.lst PHOTOS OUT
    labels: --pass-through --pack-label in/lists/three.lst PHOTOS OUT
    label_width: --pass-through --label-width 3 --pack-label in/lists/three.lst PHOTOS OUT
    wrong_width: --pass-through --label-width 2 --pack-label in/lists/three.lst PHOTOS OUT
    large_labels: --pass-through in/lists/wide.lst PHOTOS OUT
    classic_keys: in/lists/one.lst PHOTOS OUT color=1 resize=40 label_width=1 quality=90 encoding=.jpg nsplit=2 \\
        part=1 center_crop=1 inter_method=2
    classic_unchanged: in/lists/one.lst PHOTOS OUT unchanged=1 pack_label=0
""")
TARGETS = lines("""
    coco: COCO OUT
    coco_dropped: --drop-empty --no-shuffle --pass-through COCO OUT
    coco_classes: --classes in/told/names.txt --pass-through COCO OUT
    coco_new_classes: --classes in/told/fewer.txt --new-classes --pass-through COCO OUT
    coco_unknown_class: --classes in/told/fewer.txt --pass-through COCO OUT
    coco_crop: --resize 50 --center-crop COCO OUT
    coco_cbf: --format cbf --pass-through COCO OUT
    voc: VOC OUT
    voc_classes: --classes in/told/names.txt --pass-through VOC OUT
    boxes: --pass-through --pack-label in/told/boxes.lst MARKED OUT
    points: --pass-through --pack-label --keypoints 2 --masks in/marked/masks in/told/points.lst MARKED OUT
    poses: --pass-through --pack-label --keypoints 2 in/told/poses.lst MARKED OUT
    masks: --masks in/marked/masks --resize 50 MARKED OUT
    masks_passed: --masks in/marked/masks --pass-through --no-shuffle MARKED OUT
    masks_missing: --masks in/marked/masks in/more OUT
    masks_crop: --masks in/marked/masks --resize 50 --center-crop MARKED OUT
    pairs: --pass-through --no-shuffle in/marked OUT
    drawn_upright: --pack-label --drawn-on upright in/lists/exif.lst in/mixed OUT
    drawn_stored: --pack-label --drawn-on stored in/lists/exif.lst in/mixed OUT
    augment_boxes: --pack-label --augment MOVED --copies 3 -- in/told/boxes.lst MARKED OUT
    augment_points: --pack-label --keypoints 2 --keypoint-pairs 0-1 --masks in/marked/masks --ignore-label 7 \\
        --augment MOVED --copies 3 -- in/told/points.lst MARKED OUT
""")
BINARY = lines("""
    cbf: --format cbf --pass-through --no-shuffle PHOTOS OUT
    cbf_chunks: --format cbf --cbf-chunk 20K --resize 40 PHOTOS OUT
    cbf_labels: --format cbf --pass-through --pack-label in/lists/three.lst PHOTOS OUT
    cbf_bad: --format cbf in/bad OUT
    cbf_augmented: --format cbf --augment rand_crop=1 rand_mirror=1 data_shape=3,20,24 --copies 2 -- PHOTOS OUT
    pixels: --format cbf --pixels --resize 24 --center-crop PHOTOS OUT
    pixels_grey: --format cbf --pixels --color 0 --resize 20 --center-crop --cbf-chunk 5K PHOTOS OUT
""")
LISTED = lines("""
    plain: PHOTOS OUT
    ordered: --no-shuffle in/mixed OUT
    seed: --seed 3 --class-from leaf in OUT
    flat: --no-recursive in/photos/sea OUT
    shares: --train-ratio 0.5 --test-ratio 0.25 PHOTOS OUT
    chunks: --chunks 3 PHOTOS OUT
    chunk_shares: --chunks 2 --train-ratio 0.7 PHOTOS OUT
    exts: --recursive --exts .jpg,.png in/mixed OUT
""")


def full(words, out):
    for alias, path in ALIASES.items():
        words = words.replace(alias, path)
    return words.replace("OUT", out).split()


def packed(words, *before):
    """Runs the words of `before` one after the other, then `words`, whose set is kept."""
    def run(case):
        out = f"{case.folder}/set.{'cbf' if '--format cbf' in words else 'rec'}"
        for first in before:
            case.run("im2rec", "--quiet", *full(first, out))
        report = f"--report={case.folder}/report.jsonl"
        case.keep_json("json", case.run("im2rec", "--json", report, *full(words, out)))
        case.keep_files()
    return run


def listed(words):
    def run(case):
        case.keep_json("json", case.run("im2rec", "--json", "--list", *full(words, case.folder + "/set")))
        case.keep_files()
    return run


def single_runs():
    for line in FOLDERS + RESIZED + FILES + TARGETS + BINARY:
        name, words = line.split(": ", 1)
        yield "pack/" + name, packed(words)
    for method in (-1, 0, 1, 2, 3, 4, 9, 10):
        yield f"pack/resize_{method}", packed(f"--resize 40 --inter-method {method} PHOTOS OUT")
        yield f"pack/enlarge_{method}", packed(f"--resize 150 --inter-method {method} --part 1/4 PHOTOS OUT")
    for line in AUGMENTED:
        name, words = line.split(": ")
        yield "pack/augment_" + name, packed(f"--augment {words} --copies 2 -- PHOTOS OUT")
    for line in LISTED:
        name, words = line.split(": ")
        yield "list/" + name, listed(words)


def runs_that_go_on():
    for name, words in (("resume", "--no-shuffle in/bad OUT"), ("resume_shards", "--shards 3 in/bad OUT"),
                        ("resume_cbf", "--format cbf in/bad OUT")):
        yield "pack/" + name, packed("--resume " + words, "--max-skipped 0 " + words)
    whole = "PHOTOS OUT"
    yield "pack/resume_whole", packed("--resume " + whole, whole)
    yield "pack/refused", packed(whole, whole)
    yield "pack/forced", packed("--force --resize 33 " + whole, whole)
    yield "pack/append", packed("--append --pass-through in/more OUT", whole)
    yield "pack/append_shard", packed("--append --resize 40 in/more OUT", "--shards 2 " + whole)
    yield "pack/append_class", packed("--append in/more OUT", "in/colours OUT")
    yield "pack/append_new_classes", packed("--append --new-classes in/more OUT", "in/colours OUT")


def beside_the_list(words):
    """The call of MXNet's script: PREFIX ROOT."""
    def run(case):
        shutil.copyfile(case.at("in/lists/one.lst"), case.at(case.folder + "/set.lst"))
        case.run("im2rec", "--quiet", *words.split(), case.folder + "/set", "in/photos")
        case.keep_files()
    return run


# ---- damage -----------------------------------------------------------------------------------------


def flip(data, *places):
    data = bytearray(data)
    for i in places:
        data[i] ^= 1
    return bytes(data)


def broken_records(whole, places):
    """The set's bytes with some changed, cut off, gone, and put in between."""
    return {
        "head": flip(whole, places[3], places[20] + 1),
        "pixels": flip(whole, *(p + 700 for p in places[4:30:5])),
        "image": flip(whole, *(p + 33 for p in places[4:30:5])),
        "length": flip(whole, places[10] + 5),
        "tail": whole[:-900],
        "gone": whole[:places[6]] + whole[places[8]:],
        "more": whole[:places[6]] + b"xxxx" * 50 + whole[places[6]:],
        "twice": whole + whole[:places[5]],
    }


def put(case, path, data):
    os.makedirs(os.path.dirname(case.at(path)), exist_ok=True)
    with open(case.at(path), "wb") as f:
        f.write(data)
    case.keep(path.split("/")[-2], data)


def load(case, path):
    with open(case.at(path), "rb") as f:
        return f.read()


def damage(case):
    """Makes the broken sets that later cases read: out/broken/."""
    passed = "out/pack/passed/set."
    places = sorted(int(line.split(b"\t")[1]) for line in load(case, passed + "idx").splitlines())
    for name, data in broken_records(load(case, passed + "rec"), places).items():
        put(case, f"out/broken/{name}/set.rec", data)
        for side in "idx", "crc", "lst", "classes.txt":
            shutil.copyfile(case.at(passed + side), case.at(f"out/broken/{name}/set.{side}"))
    chunks = load(case, "out/pack/cbf_chunks/set.cbf")
    put(case, "out/broken/cbf/set.cbf", flip(chunks, 30, len(chunks) // 2))
    put(case, "out/broken/cut_cbf/set.cbf", chunks[:len(chunks) * 2 // 3])


def cases():
    yield from single_runs()
    yield from runs_that_go_on()
    yield "pack/classic_prefix", beside_the_list("--resize 40 --quality 80 --num-thread 2 --encoding .jpg --color 0")
    yield "pack/classic_passed", beside_the_list("--num-thread=1 --pass-through --encoding=.jpg")
