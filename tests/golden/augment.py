"""imrec batches: pixels, draws, masks, boxes, keypoints and sounds."""
from case import lines
from dump import LEVELS, dump, dumped, keep_each, keep_whole

PHOTOS = "out/pack/passed/set.rec batch_size=6 record_draws=1 seed=4 data_shape=3,40,48"

GEOMETRY = lines("""
    plain
    resize=50
    resize=130
    data_shape=3,20,30
    data_shape=3,150,140
    rand_crop=1
    rand_crop=1 resize=60
    mirror=1
    rand_mirror=1
    rotate=30
    rotate=90 fill_value=0
    rotate_list=-45,10,180 fill_value=127
    max_rotate_angle=25
    max_shear_ratio=0.3
    max_random_scale=1.4 min_random_scale=0.6
    max_aspect_ratio=0.3
    min_aspect_ratio=0.7 max_aspect_ratio=1.6
    max_img_size=60 max_rotate_angle=15
    min_img_size=150 max_rotate_angle=15
    pad=9
    pad=9 fill_value=3 rand_crop=1
    max_crop_size=60 min_crop_size=30
    max_crop_size=45 min_crop_size=45
    random_resized_crop=1
    random_resized_crop=1 min_random_area=0.2 max_random_area=0.5 max_aspect_ratio=0.5
    auto_orient=0
    random_resized_crop=1 rrc_style=torch min_random_area=0.1 min_aspect_ratio=0.7 max_aspect_ratio=1.5 rand_mirror=1
    rrc_style=torch resize=52
    rrc_style=torch antialias=1 resize=52
    seed_aug=9 rand_crop=1 rand_mirror=1
    max_rotate_angle=180 max_shear_ratio=0.2 max_random_scale=1.3 min_random_scale=0.7 max_aspect_ratio=0.2 pad=5 \\
        rand_crop=1 rand_mirror=1
""")
METHODS = lines("""
    resize=60
    data_shape=3,150,150
    random_resized_crop=1
    max_rotate_angle=30 max_random_scale=1.3
    antialias=1 resize=44
    antialias=1 random_resized_crop=1 rrc_style=torch min_random_area=0.3 max_aspect_ratio=1.4 min_aspect_ratio=0.7
    max_crop_size=70 min_crop_size=50
""")
COLOURS = lines("""
    brightness=0.4
    contrast=0.4
    saturation=0.4
    brightness=0.4 contrast=0.4 saturation=0.4
    random_h=40
    random_s=60
    random_l=70
    random_h=40 random_s=60 random_l=70
    pca_noise=0.2
    hue=0.3
    random_grayscale=0.5
    gaussian_blur=1
    gaussian_blur=0.5 min_blur_sigma=0.5 max_blur_sigma=5
    max_random_contrast=0.3
    max_random_illumination=30
    random_erasing=0.7
    random_erasing=1 min_erase_area=0.2 max_erase_area=0.6
    trivial_augment=1
    trivial_augment=1 seed=11
    trivial_augment=1 inter_method=2 fill_value=0
    aug_seq=blur,light,hue,hsl,pca,grayscale brightness=0.3 hue=0.1 random_h=9 pca_noise=0.1 gaussian_blur=1 \\
        random_grayscale=0.3
    aug_seq=grayscale,pca,hsl,hue,light,blur brightness=0.3 hue=0.1 random_h=9 pca_noise=0.1 gaussian_blur=1 \\
        random_grayscale=0.3
    aug_seq=aug_default,./libsparkle.so:sparkle(50) rand_crop=1
    aug_seq=./libsparkle.so:sparkle,light brightness=0.5
    brightness=0.3 contrast=0.2 saturation=0.4 random_h=20 random_l=9 pca_noise=0.1 hue=0.1 random_grayscale=0.2 \\
        gaussian_blur=0.4 random_erasing=0.3 max_random_contrast=0.1
    rand_augment=1 rand_augment_magnitude=0
    rand_augment=1
    rand_augment=1 rand_augment_magnitude=30
    rand_augment=2
    rand_augment=2 rand_augment_magnitude=20 rand_mirror=1 fill_value=0
    rand_augment=4 rand_augment_magnitude=0
    rand_augment=4
    rand_augment=4 rand_augment_magnitude=30
""")
MIXES = lines("""
    mixup=0.4
    cutmix=1
    mixup=0.2 cutmix=0.8
    mixup=1 last_batch=partial batch_size=7
    cutmix=0.5 batch_size=9 last_batch=wrap
    mixup=0.4 dtype=float16
    cutmix=1 dtype=float16
    cutmix=1 dtype=uint8
    cutmix=0.7 layout=NHWC
    mixup=0.3 num_views=2
    num_classes=12
    mixup=0.5 random_erasing=0.5 rand_mirror=1 shuffle=1
""")
VIEWS = lines("""
    num_views=2 rand_crop=1 rand_mirror=1
    num_views=3 random_resized_crop=1 brightness=0.4
    multi_crop=2x40x48,3x16x20 random_resized_crop=1
    multi_crop=2x40x48,3x16 multi_crop_area=0.4:1,0.05:0.4 random_resized_crop=1 rand_mirror=1
    multi_crop=1x40x48,1x32,2x12 multi_crop_augment=gaussian_blur=1;gaussian_blur=0.5,hue=0.1;random_grayscale=1 \\
        rand_crop=1
    multi_crop=2x40x48 dtype=uint8 layout=NHWC random_resized_crop=1
    multi_crop=2x40x48,2x24 shuffle=1 batch_size=5 last_batch=partial rand_crop=1
""")
PRESETS = lines("""
    imagenet-train
    imagenet-eval
    imagenet-train-torch
    imagenet-eval-torch
    ImageRecordIter
    ImageRecordIter_v1
    ImageRecordUInt8Iter
    ImageRecordUInt8Iter_v1
    ImageRecordInt8Iter
""")
MEAN_IMAGES = lines("""
    plain
    rand_crop=1 rand_mirror=1
    resize=45
    dtype=float16
    dtype=int8
    scale=0.5 std_r=2 max_random_contrast=0.2
    data_shape=1,30,30
    layout=NHWC
""")
STORED_VALUES = lines("""
    plain
    data_shape=3,10,12 rand_crop=1
    mean_r=9 scale=0.1
    rand_mirror=1 brightness=0.3
    dtype=int8
    resize=40
""")
MOVES = lines("""
    plain
    rand_crop=1
    resize=60 rand_mirror=1
    max_rotate_angle=30
    random_resized_crop=1 min_random_area=0.3 rand_mirror=1
    max_rotate_angle=40 max_shear_ratio=0.2 max_random_scale=1.2 min_random_scale=0.7 rand_crop=1 rand_mirror=1 pad=6 \\
        fill_value=9
    rand_augment=3 rand_augment_magnitude=15
    trivial_augment=1
    max_crop_size=70 min_crop_size=40
    random_erasing=0.8
    inter_method=2 resize=50
    rotate=90
    num_views=2 rand_crop=1
    mirror=1
    antialias=1 rrc_style=torch random_resized_crop=1 min_random_area=0.2 max_aspect_ratio=1.3 min_aspect_ratio=0.8
""")
MASKED = lines("""
    masks=uint16
    masks=int32
    mixup=0.4 num_classes=3
    cutmix=0.7 num_classes=3
    ignore_label=9 pad=9
    multi_crop=1x40x48,2x20 random_resized_crop=1
    aug_seq=aug_default,./libsparkle.so:sparkle
""")
CROPS = ("rand_crop_prob=0.9 num_crop_sampler=3 min_crop_scales=0.3,0.5,0.7 max_crop_scales=0.9 "
         "min_crop_aspect_ratios=0.5 max_crop_aspect_ratios=2")
DETECTIONS = lines("""
    plain
    label_pad_width=40 label_pad_value=-9
    resize_mode=shrink
    resize_mode=fit
    resize_mode=fit rand_pad_prob=1 max_pad_scale=2
    rand_pad_prob=0.7 max_pad_scale=3 fill_value=50
    rand_mirror_prob=0.5
    CROPS
    CROPS crop_emit_mode=overlap emit_overlap_thresh=0.5
    CROPS min_crop_overlaps=0.1,0.3,0.5 max_crop_overlaps=0.9
    CROPS min_crop_sample_coverages=0.2 max_crop_sample_coverages=0.8
    CROPS min_crop_object_coverages=0.3,0.6,0.9 max_crop_trials=50,10,3
    CROPS max_crop_object_coverages=0.7 resize_mode=fit
    max_random_hue=20 random_hue_prob=0.7
    max_random_saturation=40 random_saturation_prob=0.7
    max_random_illumination=30 random_illumination_prob=0.7
    max_random_contrast=0.3 random_contrast_prob=0.7
    CROPS rand_pad_prob=0.5 max_pad_scale=1.5 rand_mirror_prob=0.5 max_random_hue=9 random_hue_prob=0.5 inter_method=10
    inter_method=2
    dtype=uint8 layout=NHWC
    mean_r=120 std_r=60 scale=0.5
    label_pad_width=3
    masks=uint8 CROPS
""")
SOUNDS = lines("""
    data_shape=1,1,500
    data_shape=2,1,500
    data_shape=1,20,30
    data_shape=1,1,1500
    data_shape=1,1,500 rand_crop=1
    data_shape=1,1,500 max_random_shift=200
    data_shape=1,1,500 max_random_gain=6
    data_shape=1,1,500 subtract_mean=1
    data_shape=1,1,400 mean_r=100 std_r=2
    data_shape=2,1,300 subtract_mean=1 max_random_gain=3 rand_crop=1
    data_shape=1,1,500 sample_rate=8000
    data_shape=1,1,500 sample_rate=16000
    data_shape=1,1,200 num_views=2 rand_crop=1
    data_shape=1,1,200 scale=0.001
    data_shape=1,1,500 mixup=0.4 num_classes=2
    data_shape=1,1,500 dtype=float16
    data_shape=1,1,500 seed_aug=4 max_random_shift=50
""")


def pixels():
    for words in GEOMETRY:
        yield "geometry/" + words, dumped(f"{PHOTOS} {words}", 2, LEVELS)
    for method in (0, 1, 2, 3, 4, 9, 10):
        for words in METHODS:
            full = f"inter_method={method} {words}"
            yield "method/" + full, dumped(f"{PHOTOS} {full}", 2, LEVELS)
    for words in COLOURS:
        yield "colour/" + words, dumped(f"{PHOTOS} {words}", 6 if words.startswith("rand_augment") else 2, LEVELS)
    for words in MIXES:
        yield "mix/" + words, dumped(f"{PHOTOS} num_classes=10 {words}", 3, LEVELS)
    for words in VIEWS:
        yield "views/" + words, dumped(f"{PHOTOS} {words}", 3)
    for name in PRESETS:
        yield "preset/" + name, dumped(f"{PHOTOS} preset={name} resize=50 data_shape=3,40,48", 2, LEVELS)
    yield "preset/whole", dumped(f"{PHOTOS} preset=imagenet-train batch_size=2", 2)


def types():
    for dtype in "float32", "float16", "uint8", "int8":
        for layout in "NCHW", "NHWC":
            for channels in 1, 3, 4:
                yield from typed(f"dtype={dtype} layout={layout}", channels)


def typed(words, channels):
    where = f"out/pack/colours_passed/set.rec batch_size=6 data_shape={channels},33,35 {words}"
    means = "mean_r=123.68 mean_g=116.779 mean_b=103.939"
    deviations = "std_r=58.4 std_g=57.1 std_b=57.4"
    if channels == 4:
        means, deviations = means + " mean_a=50", deviations + " std_a=9"
    name = f"type/{words} channels={channels}"
    yield name, dumped(where, 2, LEVELS)
    if "=int8" in words:
        yield name + " with means", dumped(f"{where} {means}", 2, LEVELS)
    elif "=float" in words:
        yield name + " with means", dumped(f"{where} {means} {deviations}", 2, LEVELS)
        yield name + " with scale", dumped(f"{where} {means} {deviations} scale=0.017 mirror=1", 2, LEVELS)


def mean_image(words):
    """The file is made by the first iterator, and read by the second."""
    def run(case):
        full = f"{PHOTOS} data_shape=3,30,36 mean_img={case.folder}/mean.bin {words}"
        keep_each(case, "made", dump(case, "made", full, 2))
        keep_whole(case, "read", dump(case, "read", full, 2))
        case.keep_file(case.folder + "/mean.bin")
    return run


def growing(words):
    """Over the ends of sweeps, with a file for each shape."""
    def run(case):
        for out, start in (("first", None), ("second", "first"), ("third", "second")):
            keep_whole(case, out, dump(case, out, f"{PHOTOS} batch_size=20 {words}", 2, start=start))
    return run


def formats():
    """Every compressed format, in one channel, three and four, whole and in part; and decoded images."""
    for name in "mixed_passed", "mixed_to_png", "mixed_as_they_are", "colours", "colours_passed":
        for channels in 1, 3, 4:
            where = f"out/pack/{name}/set.rec batch_size=8 on_error=skip dtype=uint8 data_shape={channels},24,28"
            for words in ("", f"data_shape={channels},60,60", "auto_orient=0",
                          f"verify_decode=1 rand_crop=1 data_shape={channels},9,10"):
                yield f"format/{name} channels={channels} {words}", dumped(f"{where} {words}", 5, LEVELS)
    for name in "pixels", "pixels_grey", "cbf_augmented":
        for words in STORED_VALUES:
            full = f"out/pack/{name}/set.cbf batch_size=8 record_draws=1 data_shape=3,16,16 {words}"
            full = full.replace("=3,", "=1,") if name == "pixels_grey" else full
            yield f"format/{name} {words}", dumped(full, 3, LEVELS)
    for words in "", "resize=30 rand_crop=1", "max_rotate_angle=30":
        full = f"in/all.ppm source=./libppm.so:ppm batch_size=4 data_shape=3,24,24 {words}"
        yield "format/ppm " + words, dumped(full, 3)
    for words in MEAN_IMAGES:
        yield "mean_img/" + words, mean_image(words)
    for words in "data_shape_schedule=1:3,20,24", "data_shape_schedule=0:3,20,24;2:3,30,30":
        yield "views/" + words, growing(words)


def targets():
    where = "batch_size=4 record_draws=1 seed=2 shuffle=1 data_shape=3,40,48"
    masks = f"out/pack/masks_passed/set.rec {where} masks=uint8"
    for words in MOVES:
        yield "mask/" + words, dumped(f"{masks} {words}", 4, LEVELS)
        yield "box/" + words, dumped(f"out/pack/boxes/set.rec {where} boxes=1 label_width=-1 {words}", 4)
        points = f"out/pack/points/set.rec {where} boxes=1 label_width=-1 masks=int32 ignore_label=99"
        yield "point/" + words, dumped(f"{points} keypoints=2 keypoint_pairs=0-1 {words}", 4)
        poses = f"out/pack/poses/set.rec {where} label_width=7"
        yield "pose/" + words, dumped(f"{poses} keypoints=2 keypoint_pairs=0-1 {words}", 4)
    for words in MASKED:
        yield "mask/" + words, dumped(f"{masks} {words}", 4)
    yield "mask/none there", dumped(f"out/pack/passed/set.rec {where} masks=uint8", 2)
    for source in "boxes/set.rec", "coco/set.rec", "voc_classes/set.rec", "coco_cbf/set.cbf":
        full = (f"out/pack/{source} batch_size=5 seed=3 shuffle=1 preset=ImageDetRecordIter data_shape=3,40,48 "
                "on_error=skip record_draws=1")
        for words in DETECTIONS:
            yield f"detect/{source.split('/')[0]} {words}", dumped(f"{full} {words.replace('CROPS', CROPS)}", 5)


def sounds():
    where = "out/pack/sounds/set.rec audio=1 batch_size=4 seed=6 shuffle=1 record_draws=1 on_error=skip"
    for words in SOUNDS:
        yield "sound/" + words, dumped(f"{where} {words}", 3, LEVELS)


def cases():
    for family in pixels, types, formats, targets, sounds:
        yield from family()
