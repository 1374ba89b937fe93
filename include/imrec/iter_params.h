/* imrec/iter_params.h - the parameters of the iterator. */
#ifndef IMREC_ITER_PARAMS_H
#define IMREC_ITER_PARAMS_H

#include "imrec/augment.h"
#include "imrec/error.h"

/* What happens to a sweep's last batch if it is not full. */
enum imrec_last_batch {
    IMREC_LAST_PAD,     /* remaining slots are zero, not valid */
    IMREC_LAST_PARTIAL, /* the batch is shorter */
    IMREC_LAST_REPEAT,  /* remaining slots hold the next sweep's first samples, counted as pad */
    IMREC_LAST_DROP,    /* the tail is not delivered */
    IMREC_LAST_WRAP,    /* batches continue into the next sweep; there is no IMREC_END */
};
enum imrec_ctx { IMREC_CTX_GPU, IMREC_CTX_CPU };
/* What the random draws of a sample are drawn by, besides seed and sweep. */
enum imrec_draw_key {
    IMREC_DRAW_KEY_OFFSET, /* its shard, and where it is in that */
    IMREC_DRAW_KEY_ID,     /* its id: the same in all files that the set is kept in */
};

/* What files of path_imgrec are. */
enum imrec_list_shards {
    IMREC_LIST_SHARDS_AUTO,   /* small sets, and those that have an index */
    IMREC_LIST_SHARDS_ALWAYS, /* every shard, when the iterator opens */
    IMREC_LIST_SHARDS_NEVER   /* a partition has whole shards; records are found as they are read */
};

enum imrec_container {
    IMREC_CONTAINER_AUTO,     /* as their names and first bytes tell */
    IMREC_CONTAINER_REC,      /* MXNet's RecordIO */
    IMREC_CONTAINER_CBF,      /* CNTK's binary format */
    IMREC_CONTAINER_TAR,      /* WebDataset's archives */
    IMREC_CONTAINER_FOLDER,   /* folders of classes, of images in files of their own */
    IMREC_CONTAINER_LIST,     /* lists (.lst) of such images */
    IMREC_CONTAINER_TFRECORD, /* TensorFlow's files of Examples */
};
enum imrec_order {
    IMREC_ORDER_LOCAL,  /* each partition has its share of the data, and an order of it */
    IMREC_ORDER_GLOBAL, /* one sequence for the job; a rank has its slots of every batch */
};
enum imrec_locality {
    IMREC_LOCALITY_RECORD, /* of a global order: a permutation of all records */
    IMREC_LOCALITY_CHUNK,  /* cells of shuffle_chunk bytes, mixed within shuffle_window */
};

/* THE table: C fields, key=value, flags, Python keywords, --help, man page and docs are all
 * made from it. Columns: type, name, default as text (NULL = required), minimum, maximum, unit or
 * words, group, help, scope (base/param.h of the source tree; the library's own). Rows are only
 * ever appended: their order is the order of the fields. A size in bytes may end in K, M, G or KiB,
 * MiB, GiB (all powers of 1024). */
/* clang-format off */
#define IMREC_ITER_PARAMS(X) \
    X(const char *,       path_imgrec,    NULL, 1, 65535,    "URI",   "dataset", "shards, or CBF files of images: a file, 'a.rec;b.rec', a directory (its *.rec, or else *.cbf), a glob, or NAME.manifest.json; also http(s)://, s3://, gs://, az://, hdfs://", SCOPE_DATA) \
    X(const char *,       path_imgidx,    "",   0, 65535,    "auto|none|URI", "dataset", "index of each shard, in the same order: order and partition by record; auto = those next to the shards, if each has one; none, or nothing = without (./auto for a file of that name)", SCOPE_DATA) \
    X(const char *,       path_imglist,   "",   0, 65535,    "URI",   "dataset", "a .lst whose labels replace the packed ones, by image id", SCOPE_DATA) \
    X(struct imrec_shape, data_shape,     NULL, 1, 65535,    "C,H,W", "dataset", "channels (1, 3 or 4), height and width of a sample", SCOPE_SAMPLE) \
    X(int64_t,  label_width,        "1",  -1, 1 << 20,  "labels",  "dataset",      "labels of a sample; -1 = any number (detection)", SCOPE_SAMPLE) \
    X(int64_t,  batch_size,         NULL, 1, 1 << 20,   "samples", "batch",        "samples in a batch", SCOPE_BATCH) \
    X(enum imrec_last_batch, last_batch, "pad", 0, 4, "pad|partial|repeat|drop|wrap", "batch", "how to deliver a last batch that is not full", SCOPE_BATCH) \
    X(int64_t,  round_batch,        "-1", -1, 1,        "-1|0|1",  "batch",        "MXNet's name: 1 = last_batch=repeat, 0 = last_batch=pad, -1 = not given", SCOPE_BATCH) \
    X(bool,     shuffle,            "0",  0, 1,         "0|1",     "dataset",      "a new order in every sweep; 0 = file order", SCOPE_ORDER) \
    X(int64_t,  shuffle_window,     "268435456", 4096, INT64_MAX, "bytes", "dataset", "without an index: memory in which records are shuffled", SCOPE_ORDER) \
    X(int64_t,  shuffle_chunk,      "262144", 4096, 1 << 30, "bytes", "dataset",   "without an index: piece of a shard that moves as one; 16M for hard disks", SCOPE_ORDER) \
    X(int64_t,  seed,               "0",  0, INT64_MAX, "",        "dataset",      "equal seed, data and options: equal bytes", SCOPE_ORDER) \
    X(int64_t,  num_parts,          "1",  1, 1 << 20,   "N",       "dataset",      "partitions that the data is cut into", SCOPE_ORDER) \
    X(int64_t,  part_index,         "0",  0, 1 << 20,   "K",       "dataset",      "the partition to read, from 0", SCOPE_ORDER) \
    X(bool,     equal_batches,      "0",  0, 1,         "0|1",     "dataset",      "every partition delivers the same number of batches", SCOPE_ORDER) \
    X(bool,     keep_in_memory,     "0",  0, 1,         "0|1",     "backend",      "keep the partition's compressed records in memory after the first sweep", SCOPE_BATCH) \
    X(int64_t,  resize,             "-1", -1, 65500,    "px",      "augmentation", "shorter side after resize; -1 or 0 keeps the size", SCOPE_SIZE) \
    X(int64_t,  inter_method,       "1",  0, 10,        "0..4|9|10", "augmentation", "resampling: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random", SCOPE_SIZE) \
    X(bool,     rand_crop,          "0",  0, 1,         "0|1",     "augmentation", "crop anywhere; 0 = in the centre", SCOPE_CROP) \
    X(bool,     rand_mirror,        "0",  0, 1,         "0|1",     "augmentation", "mirror left-right, probability 1/2", SCOPE_PIXELS) \
    X(bool,     mirror,             "0",  0, 1,         "0|1",     "augmentation", "mirror every sample left-right", SCOPE_PIXELS) \
    X(float,    mean_r,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from red (or grey)", SCOPE_VALUES) \
    X(float,    mean_g,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from green", SCOPE_VALUES) \
    X(float,    mean_b,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from blue", SCOPE_VALUES) \
    X(float,    mean_a,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from alpha", SCOPE_VALUES) \
    X(float,    std_r,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of red (or grey)", SCOPE_VALUES) \
    X(float,    std_g,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of green", SCOPE_VALUES) \
    X(float,    std_b,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of blue", SCOPE_VALUES) \
    X(float,    std_a,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of alpha", SCOPE_VALUES) \
    X(float,    scale,              "1",  -1e6, 1e6,    "",        "augmentation", "factor of all values", SCOPE_VALUES) \
    X(const char *, mean_img,       "",   0, 65535,     "PATH",    "augmentation", "mean image to subtract instead of mean_*; computed and written where missing", SCOPE_TARGETS) \
    X(int64_t,  preprocess_threads, "0",  0, 1024,      "workers", "backend",      "threads that make batches; 0 = every CPU this process may use", SCOPE_RUN) \
    X(int64_t,  prefetch_buffer,    "2",  1, 64,        "batches", "backend",      "batches ready ahead of the consumer", SCOPE_RUN) \
    X(int64_t,  memory_limit,       "0",  0, INT64_MAX, "bytes",   "backend",      "refuse options that need more memory; 0 = no limit", SCOPE_RUN) \
    X(bool,     drop_behind,        "0",  0, 1,         "0|1",     "backend",      "drop bytes from the page cache after reading them", SCOPE_RUN) \
    X(enum imrec_dtype, dtype,      "float32", 0, 4, "float32|float16|uint8|int8|bfloat16", "batch", "type of a value in a batch", SCOPE_VALUES) \
    X(enum imrec_layout, layout,    "NCHW", 0, 1,       "NCHW|NHWC", "batch",      "order of a batch's dimensions", SCOPE_VALUES) \
    X(bool,     auto_orient,        "1",  0, 1,         "0|1",     "augmentation", "turn images upright by their EXIF orientation", SCOPE_IMAGE) \
    X(int64_t,  max_pixels,         "178956970", 1, INT64_MAX / 16, "px", "auxiliary", "refuse images that claim more pixels, before decoding", SCOPE_SAMPLE) \
    X(enum imrec_on_error, on_error, "stop", 0, 2,      "stop|skip|replace", "auxiliary", "a sample that fails: stop = report it as an error; skip = count it and zero its slot; replace = deliver another one of its window there", SCOPE_RUN) \
    X(bool,     record_draws,       "0",  0, 1,         "0|1",     "auxiliary",    "deliver the drawn parameters of each sample", SCOPE_BATCH) \
    X(bool,     verbose,            "1",  0, 1,         "0|1",     "auxiliary",    "log the opened data and its faults: at most ten lines a sweep, and a count at its end", SCOPE_RUN) \
    X(int64_t,  epoch_size,         "0",  0, INT64_MAX, "samples", "batch",        "samples until IMREC_END, regardless of sweeps; 0 = one sweep each time; INFINITELY_REPEAT, FULL_DATA_SWEEP (one, and no more)", SCOPE_BATCH) \
    X(int64_t,  max_samples,        "0",  0, INT64_MAX, "samples", "batch",        "the iterator ends after this many samples; 0 = never", SCOPE_BATCH) \
    X(const char *, aug_seq,        "aug_default", 0, 65535, "NAME,...", "augmentation", "aug_default, or augmenters of the pixels, in order: rand_augment, light, hue, hsl, pca, grayscale, blur; and own augmenters: NAME, ./libmine.so:NAME, maybe NAME(params)", SCOPE_PIXELS) \
    X(int64_t,  max_rotate_angle,   "0",  0, 360,       "degrees", "augmentation", "maximum rotation: a whole angle from [-N, N]", SCOPE_PIXELS) \
    X(int64_t,  rotate,             "-1", -360, 360,    "degrees", "augmentation", "rotate every sample by this angle, if above 0, counter-clockwise", SCOPE_PIXELS) \
    X(const char *, rotate_list,    "",   0, 4096,      "degrees,...", "augmentation", "rotate by one of these angles", SCOPE_PIXELS) \
    X(float,    max_shear_ratio,    "0",  0, 100,       "",        "augmentation", "maximum shear: from [-N, N]", SCOPE_PIXELS) \
    X(float,    max_random_scale,   "1",  1e-3, 1e3,    "",        "augmentation", "maximum scale; the minimum is min_random_scale", SCOPE_PIXELS) \
    X(float,    min_random_scale,   "1",  1e-3, 1e3,    "",        "augmentation", "minimum scale", SCOPE_PIXELS) \
    X(float,    max_aspect_ratio,   "0",  0, 1e3,       "",        "augmentation", "aspect ratio from [1 - N, 1 + N], or [min_aspect_ratio, N]", SCOPE_PIXELS) \
    X(float,    min_aspect_ratio,   "0",  0, 1e3,       "",        "augmentation", "minimum aspect ratio; 0 = not given", SCOPE_PIXELS) \
    X(float,    max_img_size,       "1e10", 1, 1e10,    "px",      "augmentation", "maximum side of the scaled, rotated image", SCOPE_PIXELS) \
    X(float,    min_img_size,       "0",  0, 65500,     "px",      "augmentation", "minimum side of the scaled, rotated image", SCOPE_PIXELS) \
    X(int64_t,  pad,                "0",  0, 65500,     "px",      "augmentation", "border on all four sides", SCOPE_PIXELS) \
    X(int64_t,  fill_value,         "255", 0, 255,      "",        "augmentation", "colour of the border, and of areas that rotation leaves empty", SCOPE_SIZE) \
    X(bool,     random_resized_crop, "0", 0, 1,         "0|1",     "augmentation", "crop a random area of a random aspect, resize it to data_shape", SCOPE_PIXELS) \
    X(float,    max_random_area,    "1",  1e-6, 1,      "",        "augmentation", "maximum share of the image in random_resized_crop", SCOPE_PIXELS) \
    X(float,    min_random_area,    "1",  1e-6, 1,      "",        "augmentation", "minimum share of the image in random_resized_crop", SCOPE_PIXELS) \
    X(int64_t,  max_crop_size,      "-1", -1, 65500,    "px",      "augmentation", "maximum side of a square crop, which is resized to data_shape", SCOPE_PIXELS) \
    X(int64_t,  min_crop_size,      "-1", -1, 65500,    "px",      "augmentation", "minimum side of the square of max_crop_size", SCOPE_PIXELS) \
    X(float,    brightness,         "0",  0, 10,        "",        "augmentation", "maximum change of brightness: a factor from [1 - N, 1 + N]", SCOPE_PIXELS) \
    X(float,    contrast,           "0",  0, 10,        "",        "augmentation", "maximum change of contrast: distance from the mean grey times [1 - N, 1 + N]", SCOPE_PIXELS) \
    X(float,    saturation,         "0",  0, 10,        "",        "augmentation", "maximum change of saturation: distance from grey times [1 - N, 1 + N]", SCOPE_PIXELS) \
    X(int64_t,  random_h,           "0",  0, 180,       "",        "augmentation", "maximum hue shift (0..180): adds a number from [-N, N]", SCOPE_PIXELS) \
    X(int64_t,  random_s,           "0",  0, 255,       "",        "augmentation", "maximum saturation shift (0..255): adds a number from [-N, N]", SCOPE_PIXELS) \
    X(int64_t,  random_l,           "0",  0, 255,       "",        "augmentation", "maximum lightness shift (0..255): adds a number from [-N, N]", SCOPE_PIXELS) \
    X(float,    pca_noise,          "0",  0, 100,       "",        "augmentation", "deviation of light along the colours' principal components", SCOPE_PIXELS) \
    X(float,    max_random_contrast, "0", 0, 1,         "",        "augmentation", "maximum change of contrast: values times [1 - N, 1 + N]", SCOPE_TONES) \
    X(float,    max_random_illumination, "0", 0, 1e6,   "0..255",  "augmentation", "maximum illumination shift: adds a number from [-N, N] to the values", SCOPE_TONES) \
    X(int64_t,  seed_aug,           "-1", -1, INT64_MAX, "",       "augmentation", "seed of augmentation alone; -1 = seed", SCOPE_DATA) \
    X(int64_t,  shuffle_chunk_size, "0",  0, 4096,      "MiB",     "dataset",      "MXNet's name: shuffle=1 with shuffle_chunk of this many MiB", SCOPE_ORDER) \
    X(int64_t,  shuffle_chunk_seed, "0",  0, INT64_MAX, "",        "dataset",      "seed of the order alone; 0 = seed", SCOPE_ORDER) \
    X(bool,     verify_decode,      "0",  0, 1,         "0|1",     "auxiliary",    "decode every image to its end; a fault anywhere fails the sample", SCOPE_SAMPLE) \
    X(int64_t,  self_check,         "0",  0, INT64_MAX, "N",       "auxiliary", "compare one of N JPEGs, drawn by seed_aug, with what libjpeg-turbo makes of it, where imrec's own decoder has decoded it; a difference fails the sample; 1 = all, 0 = none", SCOPE_SAMPLE) \
    X(const char *, preset,         "",   0, 65535,     "NAME",    "augmentation", "a whole recipe by one word; other options change it: imagenet-train, imagenet-eval; as torchvision: imagenet-train-torch, imagenet-train-torch-scaled, imagenet-eval-torch; imagenet-train-torch-v1, imagenet-eval-torch-v1, imagenet-train-torch-v2, imagenet-eval-torch-v2, each also with -uint8 or -bfloat16 at its end; MXNet's ImageRecordIter, ImageRecordIter_v1, ImageRecordUInt8Iter, ImageRecordUInt8Iter_v1, ImageRecordInt8Iter, ImageDetRecordIter", SCOPE_DATA) \
    X(enum imrec_rrc_style, rrc_style, "mxnet", 0, 1,   "mxnet|torch", "augmentation", "random_resized_crop, and the rounding of a centre crop, as in MXNet or as in torchvision", SCOPE_SIZE) \
    X(bool,     antialias,          "0",  0, 1,         "0|1",     "augmentation", "bilinear and cubic resizes widen their filters, as Pillow's do", SCOPE_SIZE) \
    X(int64_t,  rand_augment,       "0",  0, 4,         "ops",     "augmentation", "RandAugment: number of random operations a sample", SCOPE_PIXELS) \
    X(int64_t,  rand_augment_magnitude, "9", 0, 30,     "0..30",   "augmentation", "strength of RandAugment's operations", SCOPE_PIXELS) \
    X(bool,     trivial_augment,    "0",  0, 1,         "0|1",     "augmentation", "TrivialAugment: one random operation of random strength", SCOPE_PIXELS) \
    X(float,    hue,                "0",  0, 0.5,       "turns",   "augmentation", "maximum hue rotation: from [-N, N] of the circle", SCOPE_PIXELS) \
    X(float,    random_grayscale,   "0",  0, 1,         "0..1",    "augmentation", "probability of a conversion to grey", SCOPE_PIXELS) \
    X(float,    gaussian_blur,      "0",  0, 1,         "0..1",    "augmentation", "probability of a Gaussian blur", SCOPE_PIXELS) \
    X(float,    min_blur_sigma,     "0.1", 0.01, 10,    "px",      "augmentation", "minimum deviation of the blur", SCOPE_PIXELS) \
    X(float,    max_blur_sigma,     "2",  0.01, 10,     "px",      "augmentation", "maximum deviation of the blur", SCOPE_PIXELS) \
    X(float,    random_erasing,     "0",  0, 1,         "0..1",    "augmentation", "probability that a rectangle of the slot is set to zero", SCOPE_PIXELS) \
    X(float,    min_erase_area,     "0.02", 1e-6, 1,    "",        "augmentation", "minimum share of the slot that is erased", SCOPE_PIXELS) \
    X(float,    max_erase_area,     "0.33", 1e-6, 1,    "",        "augmentation", "maximum share of the slot that is erased", SCOPE_PIXELS) \
    X(float,    mixup,              "0",  0, 4,         "alpha",   "augmentation", "blend pairs of a batch, shares from Beta(alpha, alpha); 0 = off", SCOPE_VALUES) \
    X(float,    cutmix,             "0",  0, 4,         "alpha",   "augmentation", "pairs of a batch trade a rectangle, its share from Beta(alpha, alpha); 0 = off", SCOPE_TARGETS) \
    X(int64_t,  num_classes,        "0",  0, 1 << 24,   "classes", "batch",        "deliver a label as a share for each of N classes (one-hot, mixed by mixup and cutmix); 0 = unchanged", SCOPE_VALUES) \
    X(int64_t,  label_pad_width,    "0",  -1, 1 << 24,  "values",  "detection",    "values of a label; 0 or -1 = those of the widest label in the data", SCOPE_IMAGE) \
    X(float,    label_pad_value,    "-1", -1e30, 1e30,  "",        "detection",    "fills the unused values of a label", SCOPE_IMAGE) \
    X(float,    rand_crop_prob,     "0",  0, 1,         "0..1",    "detection",    "probability of a crop by a sampler", SCOPE_TARGETS) \
    X(int64_t,  num_crop_sampler,   "1",  0, 32,        "samplers", "detection",   "crop samplers; the lists below have a value for each, or one for all", SCOPE_TARGETS) \
    X(const char *, min_crop_scales, "0", 1, 4096,      "0..1,...", "detection",   "minimum size of a crop: the root of its share of the image", SCOPE_TARGETS) \
    X(const char *, max_crop_scales, "1", 1, 4096,      "0..1,...", "detection",   "maximum size of a crop", SCOPE_TARGETS) \
    X(const char *, min_crop_aspect_ratios, "1", 1, 4096, "w/h,...", "detection",  "minimum ratio of a crop's width to its height, in px", SCOPE_TARGETS) \
    X(const char *, max_crop_aspect_ratios, "1", 1, 4096, "w/h,...", "detection",  "maximum ratio of a crop's width to its height", SCOPE_TARGETS) \
    X(const char *, min_crop_overlaps, "0", 1, 4096,    "0..1,...", "detection",   "minimum intersection over union of the crop and some box", SCOPE_TARGETS) \
    X(const char *, max_crop_overlaps, "1", 1, 4096,    "0..1,...", "detection",   "maximum intersection over union of the crop and that box", SCOPE_TARGETS) \
    X(const char *, min_crop_sample_coverages, "0", 1, 4096, "0..1,...", "detection", "minimum share of the crop that the box covers", SCOPE_TARGETS) \
    X(const char *, max_crop_sample_coverages, "1", 1, 4096, "0..1,...", "detection", "maximum share of the crop that the box covers", SCOPE_TARGETS) \
    X(const char *, min_crop_object_coverages, "0", 1, 4096, "0..1,...", "detection", "minimum share of the box that the crop covers", SCOPE_TARGETS) \
    X(const char *, max_crop_object_coverages, "1", 1, 4096, "0..1,...", "detection", "maximum share of the box that the crop covers", SCOPE_TARGETS) \
    X(const char *, max_crop_trials, "25", 1, 4096,     "N,...",   "detection",    "crops that a sampler tries before the next sampler", SCOPE_TARGETS) \
    X(enum imrec_crop_emit, crop_emit_mode, "center", 0, 1, "center|overlap", "detection", "boxes that a crop keeps: with their centre in it, or with more than emit_overlap_thresh of them", SCOPE_TARGETS) \
    X(float,    emit_overlap_thresh, "0.3", 0, 1,       "0..1",    "detection",    "share of a box that must be in the crop, for crop_emit_mode=overlap", SCOPE_TARGETS) \
    X(float,    rand_pad_prob,      "0",  0, 1,         "0..1",    "detection",    "probability that the image is put on a larger canvas of fill_value", SCOPE_TARGETS) \
    X(float,    max_pad_scale,      "1",  1, 100,       "",        "detection",    "maximum sides of the canvas: the image's times [1, N]", SCOPE_TARGETS) \
    X(int64_t,  max_random_hue,     "0",  0, 180,       "",        "detection",    "maximum hue shift (0..180): adds a number from [-N, N]", SCOPE_TARGETS) \
    X(float,    random_hue_prob,    "0",  0, 1,         "0..1",    "detection",    "probability of a hue shift", SCOPE_TARGETS) \
    X(int64_t,  max_random_saturation, "0", 0, 255,     "",        "detection",    "maximum saturation shift (0..255): adds a number from [-N, N]", SCOPE_TARGETS) \
    X(float,    random_saturation_prob, "0", 0, 1,      "0..1",    "detection",    "probability of a saturation shift", SCOPE_TARGETS) \
    X(float,    random_illumination_prob, "0", 0, 1,    "0..1",    "detection",    "probability of a lightness shift (0..255) by max_random_illumination", SCOPE_TARGETS) \
    X(float,    random_contrast_prob, "0", 0, 1,        "0..1",    "detection",    "probability of a contrast change by max_random_contrast", SCOPE_TARGETS) \
    X(float,    rand_mirror_prob,   "0",  0, 1,         "0..1",    "detection",    "probability of a mirrored image, left-right; 0 = that of rand_mirror", SCOPE_PIXELS) \
    X(enum imrec_resize_mode, resize_mode, "force", 0, 2, "force|shrink|fit", "detection", "fit to data_shape: stretch; keep, but shrink a larger image; the largest size that fits", SCOPE_IMAGE) \
    X(enum imrec_ctx, ctx,          "gpu", 0, 1,        "gpu|cpu", "auxiliary",    "MXNet's device of a batch: accepted, batches are plain memory", SCOPE_RUN) \
    X(int64_t,  device_id,          "0",  -1, INT32_MAX, "",       "auxiliary",    "MXNet's number of that device: accepted, and ignored", SCOPE_RUN) \
    X(const char *, source,         "",   0, 65535,     "NAME",    "dataset",      "read path_imgrec with a source of your own: NAME, or ./libmine.so:NAME, maybe NAME(params)", SCOPE_DATA) \
    X(int64_t,  num_views,          "1",  1, 256,       "views",   "batch",        "repeated augmentation: images of each sample, one after another in the batch, out of one decode; batch_size is a multiple of it", SCOPE_BATCH) \
    X(const char *, multi_crop,     "",   0, 4096,      "NxS,...", "batch",        "crops of each sample out of one decode, counts and sizes: 2x224,6x96, or NxHxW; each is a tensor of the batch", SCOPE_BATCH) \
    X(const char *, multi_crop_area, "",  0, 4096,      "LOW:HIGH,...", "batch",   "shares of the image in random_resized_crop for each size of multi_crop, or one for all: 0.4:1,0.05:0.4", SCOPE_BATCH) \
    X(const char *, data_shape_schedule, "", 0, 4096,   "SWEEP:C,H,W;...", "batch", "progressive resizing: data_shape from that sweep on, sweeps from 0", SCOPE_BATCH) \
    X(bool,     boxes,              "0",  0, 1,         "0|1",     "segmentation", "labels are boxes, and every augmenter of aug_default moves them; det_aug_default does so always", SCOPE_IMAGE) \
    X(enum imrec_mask_type, masks,  "none", 0, 3,       "none|uint8|uint16|int32", "segmentation", "deliver the mask of each image, as values of this type", SCOPE_TARGETS) \
    X(int64_t,  ignore_label,       "255", 0, 65535,    "",        "segmentation", "value of a mask where the slot shows nothing of the image", SCOPE_TARGETS) \
    X(int64_t,  keypoints,          "0",  0, 4096,      "points",  "segmentation", "a label (with boxes: each object) ends in this many keypoints of x, y, visibility", SCOPE_TARGETS) \
    X(const char *, keypoint_pairs, "",   0, 4096,      "A-B,...", "segmentation", "keypoints, from 0, that change places when an image is mirrored: left and right eyes", SCOPE_TARGETS) \
    X(bool,     audio,              "0",  0, 1,         "0|1",     "audio",        "records are sounds (WAV, 16 bits): data_shape=(channels,H,W) has H x W samples a channel, channels 1 to 4", SCOPE_DATA) \
    X(int64_t,  sample_rate,        "0",  0, INT32_MAX, "Hz",      "audio",        "a sound of another rate fails; 0 = any", SCOPE_SOUND) \
    X(int64_t,  max_random_shift,   "0",  0, 1 << 30,   "samples", "audio",        "maximum shift of the crop: from [-N, N]; around the sound is silence", SCOPE_SOUND) \
    X(float,    max_random_gain,    "0",  0, 60,        "dB",      "audio",        "maximum change of loudness: from [-N, N]", SCOPE_SOUND) \
    X(bool,     subtract_mean,      "0",  0, 1,         "0|1",     "audio",        "subtract each channel's own mean over the crop, before the gain", SCOPE_SOUND) \
    X(const char *, multi_crop_augment, "", 0, 4096,    "KEY=VALUE,...;...", "batch", "augmentation of each size of multi_crop that differs: gaussian_blur=1;gaussian_blur=0.5,hue=0.1", SCOPE_BATCH) \
    X(enum imrec_label_dtype, dtype_label, "float32", 0, 2, "float32|float64|int64", "batch", "type of a label, of path_imglist and source= above all: float32 cannot hold every whole number beyond 2^24; labels of records are float32", SCOPE_VALUES) \
    X(bool,     allow_missing,      "0",  0, 1,         "0|1",     "dataset",      "1 = a set whose directory, glob or manifest lacks shards is read without them, with a warning; 0 = an error", SCOPE_DATA) \
    X(bool,     verify_checksums,   "0",  0, 1,         "0|1",     "auxiliary",    "compare every record with its checksum in the .crc next to the shard: a difference is damage", SCOPE_DATA) \
    X(const char *, cache,          "",   0, 65535,     "DIR",     "backend",      "keep what is read of sets on web servers, in buckets and on HDFS in this directory, for later sweeps and other processes", SCOPE_RUN) \
    X(int64_t,  cache_size,         "0",  0, INT64_MAX, "bytes",   "backend",      "bound of the file in cache=, at least 4M; 0 = the one that it has, 10G for a new one", SCOPE_RUN) \
    X(const char *, metrics,        "",   0, 200,       "FILE|unix:PATH|HOST:PORT", "auxiliary", "numbers of this reader for Prometheus: a file that is written every 5 s, or a socket that answers GET /metrics: 127.0.0.1:9400, port 0 takes a free one", SCOPE_RUN) \
    X(enum imrec_order, order,  "local", 0, 1,       "local|global", "dataset", "local: a partition has its share of the data and an order of it; global: one sequence for the whole job, equal for every num_parts, of which part_index has its slots of each batch; needs an index", SCOPE_ORDER) \
    X(int64_t,  global_batch_size,  "0",  0, 1 << 30,   "samples", "batch",        "with order=global: samples in a batch of the job, a multiple of num_parts; 0 = batch_size of each of num_parts, which otherwise may be omitted", SCOPE_ORDER) \
    X(enum imrec_locality, locality, "record", 0, 1,    "record|chunk", "dataset", "with order=global and shuffle=1: permute all records; or cells of shuffle_chunk, mixed in shuffle_window bytes of the job, which reads near records together", SCOPE_ORDER) \
    X(int64_t,  mix_group,          "0",  0, 1 << 20,   "slots",   "augmentation", "mixup and cutmix choose partners among this many consecutive slots; 0 = the whole batch, with order=global that of the job", SCOPE_BATCH) \
    X(const char *, mix,            "",   0, 65535,     "URI:WEIGHT,...", "dataset", "with order=global, instead of path_imgrec: a mixture of sets by weight, a.rec:0.7,b.rec:0.3; a sweep ends when a set has no more, or with sweep_samples", SCOPE_ORDER) \
    X(const char *, mix_label_offset, "", 0, 65535,     "N,...",   "dataset",      "of mix: a number for each set that is added to its classes", SCOPE_VALUES) \
    X(bool,     class_balanced,     "0",  0, 1,         "0|1",     "dataset",      "with order=global: every class has equally many samples of a sweep; by the first label, of path_imglist or of the records", SCOPE_ORDER) \
    X(const char *, sample_weights, "",   0, 65535,     "URI",     "dataset",      "with order=global: a file of an id and a weight a line; a record is as often in a sweep as its weight says", SCOPE_ORDER) \
    X(const char *, subset,         "",   0, 65535,     "URI",     "dataset",      "with order=global: a file whose lines begin with an id (a .lst will do): only these records", SCOPE_ORDER) \
    X(int64_t,  repeats,            "1",  1, 1024,      "N",       "dataset",      "with order=global, repeated augmentation: every sample N times in the same batch of the job, as far from each other as can be, so on different ranks; augmented differently", SCOPE_ORDER) \
    X(int64_t,  sweep_samples,      "0",  0, INT64_MAX / 8388608, "samples", "dataset", "with order=global: samples of a sweep, before repeats; the next one continues where it ends; 0 = as many as there are, of mix until a set ends", SCOPE_ORDER) \
    X(enum imrec_container, container, "auto", 0, 6, "auto|rec|cbf|tar|folder|list|tfrecord", "dataset", "of what kind the files are, and which ones of a directory are meant; folder, list = images in files of their own; auto = as names and first bytes tell", SCOPE_DATA) \
    X(const char *, image,          "",   0, 255,       "SUFFIX,...|FEATURE", "dataset", "of tars: the file of a sample that is its image, by the first of these suffixes that it has; nothing = the first one with a usual suffix of images; of TFRecords: the feature that is the image, nothing = image/encoded", SCOPE_DATA) \
    X(const char *, label,          "",   0, 255,       "SUFFIX|SUFFIX:PATH|FEATURE|none", "dataset", "of tars: the file of a sample that has its labels, as numbers (cls, which is the default), or in JSON (json:object.class); of TFRecords: the feature that has them, nothing = image/class/label; none = there are none, zeros are delivered", SCOPE_DATA) \
    X(int64_t,  label_offset,       "0",  -(1 << 24), 1 << 24, "classes", "dataset", "added to the label of each record, a class: -1 for classes that count from 1; label_width must be 1", SCOPE_VALUES) \
    X(const char *, fields,         "",   0, 65535,     "NAME,...", "batch",       "further parts of a sample to deliver as bytes: files of a tar by their extensions, features of a TFRecord, fields of a record: txt,json; a sample without one fails, unless its name ends in ?", SCOPE_BATCH) \
    X(int64_t,  max_field_bytes,    "65536", 1, 1 << 30, "bytes",  "batch",        "a field with more bytes fails its sample", SCOPE_BATCH) \
    X(const char *, path_root,      "",   0, 65535,     "DIR",     "dataset",      "of path_imgrec=NAME.lst: the folder, of any store, that its files are in; nothing = the current one", SCOPE_DATA) \
    X(enum imrec_draw_key, draw_key, "offset", 0, 1,    "offset|id", "dataset", "random draws depend on the place of a record in its shard; or on its id, so that they are the same for a folder of images and the sets packed from it; ids should differ", SCOPE_DATA) \
    X(enum imrec_policy, auto_augment, "none", 0, 3,    "none|imagenet|cifar10|svhn", "augmentation", "AutoAugment: one of the 25 pairs of operations that were found for this data set", SCOPE_PIXELS) \
    X(bool,     augmix,             "0",  0, 1,         "0|1",     "augmentation", "AugMix: the image, blended with chains of operations on it", SCOPE_PIXELS) \
    X(int64_t,  augmix_severity,    "3",  1, 10,        "1..10",   "augmentation", "maximum strength of AugMix's operations", SCOPE_PIXELS) \
    X(int64_t,  augmix_width,       "3",  1, 8,         "chains",  "augmentation", "chains that AugMix blends", SCOPE_PIXELS) \
    X(int64_t,  augmix_depth,       "0",  0, 8,         "ops",     "augmentation", "operations of a chain of AugMix; 0 = from 1 to 3, drawn", SCOPE_PIXELS) \
    X(float,    augmix_alpha,       "1",  0.01, 100,    "alpha",   "augmentation", "AugMix's shares are from Beta(alpha, alpha) and Dirichlet(alpha, ...)", SCOPE_PIXELS) \
    X(bool,     augmix_all_ops,     "1",  0, 1,         "0|1",     "augmentation", "AugMix also changes brightness, colour, contrast and sharpness", SCOPE_PIXELS) \
    X(float,    rand_flip,          "0",  0, 1,         "0..1",    "augmentation", "probability of a flip, top-bottom", SCOPE_PIXELS) \
    X(float,    jitter_prob,        "1",  0, 1,         "0..1",    "augmentation", "probability that brightness, contrast, saturation and hue change", SCOPE_PIXELS) \
    X(float,    random_solarize,    "0",  0, 1,         "0..1",    "augmentation", "probability that values from solarize_threshold on are inverted", SCOPE_PIXELS) \
    X(int64_t,  solarize_threshold, "128", 0, 256,      "0..256",  "augmentation", "first value that random_solarize inverts", SCOPE_PIXELS) \
    X(enum imrec_rand_augment_style, rand_augment_style, "torch", 0, 2, "torch|timm|timm_inc", "augmentation", "operations and strengths of RandAugment: torchvision's, timm's, or timm's that all grow with the magnitude (inc1)", SCOPE_PIXELS) \
    X(float,    rand_augment_mstd,  "0",  0, 100,       "",        "augmentation", "deviation of RandAugment's magnitude, normal, for each operation", SCOPE_PIXELS) \
    X(float,    rand_augment_prob,  "1",  0, 1,         "0..1",    "augmentation", "probability of each of RandAugment's operations; timm: 0.5", SCOPE_PIXELS) \
    X(const char *, rand_augment_magnitude_schedule, "", 0, 4096, "SWEEP:VALUE;...", "augmentation", "rand_augment_magnitude from that sweep on, sweeps from 0", SCOPE_PIXELS) \
    X(enum imrec_erase_mode, erase_mode, "constant", 0, 2, "constant|color|pixel", "augmentation", "random_erasing writes erase_value, one random colour, or a random value for each pixel", SCOPE_PIXELS) \
    X(const char *, erase_value,    "0",  1, 256,       "V|V,V,V", "augmentation", "what erase_mode=constant writes, in units of the slot: one for all channels, or one for each", SCOPE_PIXELS) \
    X(enum imrec_resize_style, resize_style, "opencv", 0, 1, "opencv|pillow", "augmentation", "arithmetic of resizes: OpenCV's, or Pillow's, bit for bit, which is antialiased (inter_method 1 to 4)", SCOPE_SIZE) \
    X(enum imrec_scale_decode, scale_decode, "off", 0, 1, "off|auto", "augmentation", "auto: a JPEG of which the crop is shrunk to a half, a quarter or an eighth or less, by an antialiased resize (antialias=1, resize_style=pillow), is decoded at that size: other pixels, in less time; not with boxes, keypoints, masks or record_places", SCOPE_SIZE) \
    X(const char *, images,         "",   0, 65535,     "image,NAME[:HOW],...|none", "batch", "tensors of a batch: image, which is the record's, and further images out of its fields: image,right,depth:uint16,segments:uint8:fill=255?; they are cropped, resized and mirrored as the first one is; none = labels and fields only, nothing is decoded", SCOPE_BATCH) \
    X(enum imrec_list_shards, list_shards, "auto", 0, 2, "auto|always|never", "dataset", "of tars and TFRecords without an index: always = find all records when the iterator opens: any order; never = find them as shards are read: whole shards are permuted, and records in shuffle_window; auto = always, but never of 16 shards or more of together over 4 GiB", SCOPE_DATA) \
    X(const char *, mask,           "",   0, 255,       "SUFFIX|FEATURE", "dataset", "of tars: the file of a sample that is its mask, for masks=; nothing = mask.png or mask; of TFRecords: the feature, nothing = image/segmentation/class/encoded", SCOPE_DATA) \
    X(float,    rand_affine_prob,   "0",  0, 1,         "0..1",    "detection",    "probability that the fitted image is tilted, turned, scaled, sheared and shifted, with its boxes", SCOPE_TARGETS) \
    X(float,    max_affine_angle,   "0",  0, 180,       "degrees", "detection",    "maximum rotation: an angle from [-N, N]", SCOPE_TARGETS) \
    X(float,    min_affine_scale,   "1",  0.01, 100,    "",        "detection",    "minimum scale of the affine move", SCOPE_TARGETS) \
    X(float,    max_affine_scale,   "1",  0.01, 100,    "",        "detection",    "maximum scale of the affine move", SCOPE_TARGETS) \
    X(float,    max_affine_shear,   "0",  0, 40,        "degrees", "detection",    "maximum shear along rows and along columns: angles from [-N, N]", SCOPE_TARGETS) \
    X(float,    max_affine_shift,   "0",  0, 1,         "0..1",    "detection",    "maximum shift: shares of the slot's sides from [-N, N]", SCOPE_TARGETS) \
    X(float,    max_affine_tilt,    "0",  0, 0.4,       "",        "detection",    "maximum perspective: from the image's middle to its edges it is shrunk by up to 1 + N or enlarged by up to 1 - N, along rows and along columns", SCOPE_TARGETS) \
    X(float,    min_box_area,       "0.1", 0, 1,        "0..1",    "detection",    "share of a box that must be seen after an affine move or in a mosaic, and of an object's pixels where others are pasted over it", SCOPE_TARGETS) \
    X(float,    min_box_side,       "2",  0, 65500,     "px",      "detection",    "minimum sides of a box in the slot, likewise", SCOPE_TARGETS) \
    X(float,    max_box_aspect,     "100", 1, 1e6,      "",        "detection",    "maximum ratio of a box's longer side to its shorter one, likewise", SCOPE_TARGETS) \
    X(float,    rand_mosaic_prob,   "0",  0, 1,         "0..1",    "detection",    "probability that a slot shows four samples, its own and three others of its window, with all their boxes", SCOPE_TARGETS) \
    X(float,    max_mosaic_shift,   "0.25", 0, 0.5,     "0..1",    "detection",    "the four meet in the middle of a canvas of twice the slot's sides, shifted by shares of its sides from [-N, N]", SCOPE_TARGETS) \
    X(float,    min_mosaic_scale,   "1",  0.1, 10,      "",        "detection",    "minimum scale of that canvas, of which the slot shows the middle; 0.5 shows all of it", SCOPE_TARGETS) \
    X(float,    max_mosaic_scale,   "1",  0.1, 10,      "",        "detection",    "maximum scale of that canvas", SCOPE_TARGETS) \
    X(bool,     record_places,      "0",  0, 1,         "0|1",     "auxiliary",    "deliver the map of each slot back to its record's image", SCOPE_TARGETS) \
    X(enum imrec_mask_kind, mask_kind, "semantic", 0, 1, "semantic|instance", "segmentation", "semantic: values of masks are classes; instance: value k shows object k of the label, counted from 1, and 0 the background", SCOPE_TARGETS) \
    X(bool,     mask_boxes,         "1",  0, 1,         "0|1",     "segmentation", "with mask_kind=instance a box becomes the bounds of its object's pixels in the slot; 0 = it is moved as boxes without masks are", SCOPE_TARGETS) \
    X(float,    rand_copy_paste_prob, "0", 0, 1,        "0..1",    "detection",    "probability that objects of another sample of the window are pasted into a slot by their masks, with boxes and keypoints; needs mask_kind=instance", SCOPE_TARGETS) \
    X(int64_t,  max_copy_paste_objects, "0", 0, 65535,  "objects", "detection",    "maximum number of objects that are pasted; at least one is, unless the other sample has none; 0 = any number of them", SCOPE_TARGETS)
/* clang-format on */
#endif
