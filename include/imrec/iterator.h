/* imrec/iterator.h - reads shards and delivers shuffled and augmented batches. */
#ifndef IMREC_ITERATOR_H
#define IMREC_ITERATOR_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_shape { /* of one sample */
    uint32_t channels, height, width;
};

/* What happens to a sweep's last batch if it is not full. */
enum imrec_last_batch {
    IMREC_LAST_PAD,     /* remaining slots are zero, not valid */
    IMREC_LAST_PARTIAL, /* the batch is shorter */
    IMREC_LAST_REPEAT,  /* remaining slots hold the next sweep's first samples, counted as pad */
    IMREC_LAST_DROP,    /* the tail is not delivered */
    IMREC_LAST_WRAP,    /* batches continue into the next sweep; there is no IMREC_END */
};
enum imrec_dtype { IMREC_FLOAT32, IMREC_FLOAT16, IMREC_UINT8, IMREC_INT8 };
enum imrec_ctx { IMREC_CTX_GPU, IMREC_CTX_CPU };
enum imrec_rrc_style { IMREC_RRC_MXNET, IMREC_RRC_TORCH };
/* Type of a mask's values; none: masks are not delivered. */
enum imrec_mask_type { IMREC_MASK_NONE, IMREC_MASK_UINT8, IMREC_MASK_UINT16, IMREC_MASK_INT32 };
enum imrec_label_dtype { IMREC_LABEL_FLOAT32, IMREC_LABEL_FLOAT64, IMREC_LABEL_INT64 };
enum imrec_layout { IMREC_NCHW, IMREC_NHWC };
enum imrec_crop_emit { IMREC_EMIT_CENTER, IMREC_EMIT_OVERLAP };
enum imrec_resize_mode { IMREC_RESIZE_FORCE, IMREC_RESIZE_SHRINK, IMREC_RESIZE_FIT };

/* on_error=replace: the next good sample in the order of its window, wrapping from its end to its
 * beginning, replaces a sample that fails. This is the maximum number of samples that are tried. If
 * all of them fail, or the window has no more, the slot stays zeroed and flagged, as with skip. */
#define IMREC_REPLACE_TRIES 1024

/* THE table: C fields, key=value, flags, Python keywords, --help, man page and docs are all
 * made from it. Columns: type, name, default as text (NULL = required), minimum, maximum, unit or
 * words, group, help. Rows are only ever appended: their order is the order of the fields.
 * A size in bytes may end in K, M, G or KiB, MiB, GiB (all powers of 1024). */
/* clang-format off */
#define IMREC_ITER_PARAMS(X) \
    X(const char *,       path_imgrec,    NULL, 1, 65535,    "URI",   "dataset", "shards, or CBF files of images: a file, 'a.rec;b.rec', a directory (its *.rec, or else *.cbf), a glob, or NAME.manifest.json; http://, s3://, gs:// and hdfs:// are not supported yet") \
    X(const char *,       path_imgidx,    "",   0, 65535,    "auto|none|URI", "dataset", "index of each shard, in the same order: order and partition by record; auto = those next to the shards, if each has one; none, or nothing = without (./auto for a file of that name)") \
    X(const char *,       path_imglist,   "",   0, 65535,    "URI",   "dataset", "a .lst whose labels replace the packed ones, by image id") \
    X(struct imrec_shape, data_shape,     NULL, 1, 65535,    "C,H,W", "dataset", "channels (1, 3 or 4), height and width of a sample") \
    X(int64_t,  label_width,        "1",  -1, 1 << 20,  "labels",  "dataset",      "labels of a sample; -1 = any number (detection)") \
    X(int64_t,  batch_size,         NULL, 1, 1 << 20,   "samples", "batch",        "samples in a batch") \
    X(enum imrec_last_batch, last_batch, "pad", 0, 4, "pad|partial|repeat|drop|wrap", "batch", "how to deliver a last batch that is not full") \
    X(int64_t,  round_batch,        "-1", -1, 1,        "-1|0|1",  "batch",        "MXNet's name: 1 = last_batch=repeat, 0 = last_batch=pad, -1 = not given") \
    X(bool,     shuffle,            "0",  0, 1,         "0|1",     "dataset",      "a new order in every sweep; 0 = file order") \
    X(int64_t,  shuffle_window,     "268435456", 4096, INT64_MAX, "bytes", "dataset", "without an index: memory in which records are shuffled") \
    X(int64_t,  shuffle_chunk,      "262144", 4096, 1 << 30, "bytes", "dataset",   "without an index: piece of a shard that moves as one; 16M for hard disks") \
    X(int64_t,  seed,               "0",  0, INT64_MAX, "",        "dataset",      "equal seed, data and options: equal bytes") \
    X(int64_t,  num_parts,          "1",  1, 1 << 20,   "N",       "dataset",      "partitions that the data is cut into") \
    X(int64_t,  part_index,         "0",  0, 1 << 20,   "K",       "dataset",      "the partition to read, from 0") \
    X(bool,     equal_batches,      "0",  0, 1,         "0|1",     "dataset",      "every partition delivers the same number of batches") \
    X(bool,     keep_in_memory,     "0",  0, 1,         "0|1",     "backend",      "keep the partition's compressed records in memory after the first sweep") \
    X(int64_t,  resize,             "-1", -1, 65500,    "px",      "augmentation", "shorter side after resize; -1 or 0 keeps the size") \
    X(int64_t,  inter_method,       "1",  0, 10,        "0..4|9|10", "augmentation", "resampling: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random") \
    X(bool,     rand_crop,          "0",  0, 1,         "0|1",     "augmentation", "crop anywhere; 0 = in the centre") \
    X(bool,     rand_mirror,        "0",  0, 1,         "0|1",     "augmentation", "mirror left-right, probability 1/2") \
    X(bool,     mirror,             "0",  0, 1,         "0|1",     "augmentation", "mirror every sample left-right") \
    X(float,    mean_r,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from red (or grey)") \
    X(float,    mean_g,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from green") \
    X(float,    mean_b,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from blue") \
    X(float,    mean_a,             "0",  -1e6, 1e6,    "0..255",  "augmentation", "subtracted from alpha") \
    X(float,    std_r,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of red (or grey)") \
    X(float,    std_g,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of green") \
    X(float,    std_b,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of blue") \
    X(float,    std_a,              "1",  0,    1e6,    "0..255",  "augmentation", "divisor of alpha") \
    X(float,    scale,              "1",  -1e6, 1e6,    "",        "augmentation", "factor of all values") \
    X(const char *, mean_img,       "",   0, 65535,     "PATH",    "augmentation", "mean image to subtract instead of mean_*; computed and written where missing") \
    X(int64_t,  preprocess_threads, "0",  0, 1024,      "workers", "backend",      "threads that make batches; 0 = every CPU this process may use") \
    X(int64_t,  prefetch_buffer,    "2",  1, 64,        "batches", "backend",      "batches ready ahead of the consumer") \
    X(int64_t,  memory_limit,       "0",  0, INT64_MAX, "bytes",   "backend",      "refuse options that need more memory; 0 = no limit") \
    X(bool,     drop_behind,        "0",  0, 1,         "0|1",     "backend",      "drop bytes from the page cache after reading them") \
    X(enum imrec_dtype, dtype,      "float32", 0, 3, "float32|float16|uint8|int8", "batch", "type of a value in a batch") \
    X(enum imrec_layout, layout,    "NCHW", 0, 1,       "NCHW|NHWC", "batch",      "order of a batch's dimensions") \
    X(bool,     auto_orient,        "1",  0, 1,         "0|1",     "augmentation", "turn images upright by their EXIF orientation") \
    X(int64_t,  max_pixels,         "178956970", 1, INT64_MAX / 16, "px", "auxiliary", "refuse images that claim more pixels, before decoding") \
    X(enum imrec_on_error, on_error, "stop", 0, 2,      "stop|skip|replace", "auxiliary", "a sample that fails: report it, count it and zero its slot, or deliver another one of its window there") \
    X(bool,     record_draws,       "0",  0, 1,         "0|1",     "auxiliary",    "deliver the drawn parameters of each sample") \
    X(bool,     verbose,            "1",  0, 1,         "0|1",     "auxiliary",    "log the opened data and its faults: at most ten lines a sweep, and a count at its end") \
    X(int64_t,  epoch_size,         "0",  0, INT64_MAX, "samples", "batch",        "samples until IMREC_END, regardless of sweeps; 0 = one sweep each time; INFINITELY_REPEAT, FULL_DATA_SWEEP (one, and no more)") \
    X(int64_t,  max_samples,        "0",  0, INT64_MAX, "samples", "batch",        "the iterator ends after this many samples; 0 = never") \
    X(const char *, aug_seq,        "aug_default", 0, 65535, "NAME,...", "augmentation", "aug_default, or augmenters of the pixels, in order: rand_augment, light, hue, hsl, pca, grayscale, blur; and own augmenters: NAME, ./libmine.so:NAME, maybe NAME(params)") \
    X(int64_t,  max_rotate_angle,   "0",  0, 360,       "degrees", "augmentation", "maximum rotation: a whole angle from [-N, N]") \
    X(int64_t,  rotate,             "-1", -360, 360,    "degrees", "augmentation", "rotate every sample by this angle, if above 0, counter-clockwise") \
    X(const char *, rotate_list,    "",   0, 4096,      "degrees,...", "augmentation", "rotate by one of these angles") \
    X(float,    max_shear_ratio,    "0",  0, 100,       "",        "augmentation", "maximum shear: from [-N, N]") \
    X(float,    max_random_scale,   "1",  1e-3, 1e3,    "",        "augmentation", "maximum scale; the minimum is min_random_scale") \
    X(float,    min_random_scale,   "1",  1e-3, 1e3,    "",        "augmentation", "minimum scale") \
    X(float,    max_aspect_ratio,   "0",  0, 1e3,       "",        "augmentation", "aspect ratio from [1 - N, 1 + N], or [min_aspect_ratio, N]") \
    X(float,    min_aspect_ratio,   "0",  0, 1e3,       "",        "augmentation", "minimum aspect ratio; 0 = not given") \
    X(float,    max_img_size,       "1e10", 1, 1e10,    "px",      "augmentation", "maximum side of the scaled, rotated image") \
    X(float,    min_img_size,       "0",  0, 65500,     "px",      "augmentation", "minimum side of the scaled, rotated image") \
    X(int64_t,  pad,                "0",  0, 65500,     "px",      "augmentation", "border on all four sides") \
    X(int64_t,  fill_value,         "255", 0, 255,      "",        "augmentation", "colour of the border, and of areas that rotation leaves empty") \
    X(bool,     random_resized_crop, "0", 0, 1,         "0|1",     "augmentation", "crop a random area of a random aspect, resize it to data_shape") \
    X(float,    max_random_area,    "1",  1e-6, 1,      "",        "augmentation", "maximum share of the image in random_resized_crop") \
    X(float,    min_random_area,    "1",  1e-6, 1,      "",        "augmentation", "minimum share of the image in random_resized_crop") \
    X(int64_t,  max_crop_size,      "-1", -1, 65500,    "px",      "augmentation", "maximum side of a square crop, which is resized to data_shape") \
    X(int64_t,  min_crop_size,      "-1", -1, 65500,    "px",      "augmentation", "minimum side of the square of max_crop_size") \
    X(float,    brightness,         "0",  0, 10,        "",        "augmentation", "maximum change of brightness: a factor from [1 - N, 1 + N]") \
    X(float,    contrast,           "0",  0, 10,        "",        "augmentation", "maximum change of contrast: distance from the mean grey times [1 - N, 1 + N]") \
    X(float,    saturation,         "0",  0, 10,        "",        "augmentation", "maximum change of saturation: distance from grey times [1 - N, 1 + N]") \
    X(int64_t,  random_h,           "0",  0, 180,       "",        "augmentation", "maximum hue shift (0..180): adds a number from [-N, N]") \
    X(int64_t,  random_s,           "0",  0, 255,       "",        "augmentation", "maximum saturation shift (0..255): adds a number from [-N, N]") \
    X(int64_t,  random_l,           "0",  0, 255,       "",        "augmentation", "maximum lightness shift (0..255): adds a number from [-N, N]") \
    X(float,    pca_noise,          "0",  0, 100,       "",        "augmentation", "deviation of light along the colours' principal components") \
    X(float,    max_random_contrast, "0", 0, 1,         "",        "augmentation", "maximum change of contrast: values times [1 - N, 1 + N]") \
    X(float,    max_random_illumination, "0", 0, 1e6,   "0..255",  "augmentation", "maximum illumination shift: adds a number from [-N, N] to the values") \
    X(int64_t,  seed_aug,           "-1", -1, INT64_MAX, "",       "augmentation", "seed of augmentation alone; -1 = seed") \
    X(int64_t,  shuffle_chunk_size, "0",  0, 4096,      "MiB",     "dataset",      "MXNet's name: shuffle=1 with shuffle_chunk of this many MiB") \
    X(int64_t,  shuffle_chunk_seed, "0",  0, INT64_MAX, "",        "dataset",      "seed of the order alone; 0 = seed") \
    X(bool,     verify_decode,      "0",  0, 1,         "0|1",     "auxiliary",    "decode every image to its end; a fault anywhere fails the sample") \
    X(const char *, preset,         "",   0, 65535,     "NAME",    "augmentation", "a whole recipe by one word; other options change it") \
    X(enum imrec_rrc_style, rrc_style, "mxnet", 0, 1,   "mxnet|torch", "augmentation", "random_resized_crop, and the rounding of a centre crop, as in MXNet or as in torchvision") \
    X(bool,     antialias,          "0",  0, 1,         "0|1",     "augmentation", "bilinear and cubic resizes widen their filters, as Pillow's do") \
    X(int64_t,  rand_augment,       "0",  0, 4,         "ops",     "augmentation", "RandAugment: number of random operations a sample") \
    X(int64_t,  rand_augment_magnitude, "9", 0, 30,     "0..30",   "augmentation", "strength of RandAugment's operations") \
    X(bool,     trivial_augment,    "0",  0, 1,         "0|1",     "augmentation", "TrivialAugment: one random operation of random strength") \
    X(float,    hue,                "0",  0, 0.5,       "turns",   "augmentation", "maximum hue rotation: from [-N, N] of the circle") \
    X(float,    random_grayscale,   "0",  0, 1,         "0..1",    "augmentation", "probability of a conversion to grey") \
    X(float,    gaussian_blur,      "0",  0, 1,         "0..1",    "augmentation", "probability of a Gaussian blur") \
    X(float,    min_blur_sigma,     "0.1", 0.01, 10,    "px",      "augmentation", "minimum deviation of the blur") \
    X(float,    max_blur_sigma,     "2",  0.01, 10,     "px",      "augmentation", "maximum deviation of the blur") \
    X(float,    random_erasing,     "0",  0, 1,         "0..1",    "augmentation", "probability that a rectangle of the slot is set to zero") \
    X(float,    min_erase_area,     "0.02", 1e-6, 1,    "",        "augmentation", "minimum share of the slot that is erased") \
    X(float,    max_erase_area,     "0.33", 1e-6, 1,    "",        "augmentation", "maximum share of the slot that is erased") \
    X(float,    mixup,              "0",  0, 4,         "alpha",   "augmentation", "blend pairs of a batch, shares from Beta(alpha, alpha); 0 = off") \
    X(float,    cutmix,             "0",  0, 4,         "alpha",   "augmentation", "pairs of a batch trade a rectangle, its share from Beta(alpha, alpha); 0 = off") \
    X(int64_t,  num_classes,        "0",  0, 1 << 24,   "classes", "batch",        "deliver a label as a share for each of N classes (one-hot, mixed by mixup and cutmix); 0 = unchanged") \
    X(int64_t,  label_pad_width,    "0",  -1, 1 << 24,  "values",  "detection",    "values of a label; 0 or -1 = those of the widest label in the data") \
    X(float,    label_pad_value,    "-1", -1e30, 1e30,  "",        "detection",    "fills the unused values of a label") \
    X(float,    rand_crop_prob,     "0",  0, 1,         "0..1",    "detection",    "probability of a crop by a sampler") \
    X(int64_t,  num_crop_sampler,   "1",  0, 32,        "samplers", "detection",   "crop samplers; the lists below have a value for each, or one for all") \
    X(const char *, min_crop_scales, "0", 1, 4096,      "0..1,...", "detection",   "minimum size of a crop: the root of its share of the image") \
    X(const char *, max_crop_scales, "1", 1, 4096,      "0..1,...", "detection",   "maximum size of a crop") \
    X(const char *, min_crop_aspect_ratios, "1", 1, 4096, "w/h,...", "detection",  "minimum ratio of a crop's width to its height, in px") \
    X(const char *, max_crop_aspect_ratios, "1", 1, 4096, "w/h,...", "detection",  "maximum ratio of a crop's width to its height") \
    X(const char *, min_crop_overlaps, "0", 1, 4096,    "0..1,...", "detection",   "minimum intersection over union of the crop and some box") \
    X(const char *, max_crop_overlaps, "1", 1, 4096,    "0..1,...", "detection",   "maximum intersection over union of the crop and that box") \
    X(const char *, min_crop_sample_coverages, "0", 1, 4096, "0..1,...", "detection", "minimum share of the crop that the box covers") \
    X(const char *, max_crop_sample_coverages, "1", 1, 4096, "0..1,...", "detection", "maximum share of the crop that the box covers") \
    X(const char *, min_crop_object_coverages, "0", 1, 4096, "0..1,...", "detection", "minimum share of the box that the crop covers") \
    X(const char *, max_crop_object_coverages, "1", 1, 4096, "0..1,...", "detection", "maximum share of the box that the crop covers") \
    X(const char *, max_crop_trials, "25", 1, 4096,     "N,...",   "detection",    "crops that a sampler tries before the next sampler") \
    X(enum imrec_crop_emit, crop_emit_mode, "center", 0, 1, "center|overlap", "detection", "boxes that a crop keeps: with their centre in it, or with more than emit_overlap_thresh of them") \
    X(float,    emit_overlap_thresh, "0.3", 0, 1,       "0..1",    "detection",    "share of a box that must be in the crop, for crop_emit_mode=overlap") \
    X(float,    rand_pad_prob,      "0",  0, 1,         "0..1",    "detection",    "probability that the image is put on a larger canvas of fill_value") \
    X(float,    max_pad_scale,      "1",  1, 100,       "",        "detection",    "maximum sides of the canvas: the image's times [1, N]") \
    X(int64_t,  max_random_hue,     "0",  0, 180,       "",        "detection",    "maximum hue shift (0..180): adds a number from [-N, N]") \
    X(float,    random_hue_prob,    "0",  0, 1,         "0..1",    "detection",    "probability of a hue shift") \
    X(int64_t,  max_random_saturation, "0", 0, 255,     "",        "detection",    "maximum saturation shift (0..255): adds a number from [-N, N]") \
    X(float,    random_saturation_prob, "0", 0, 1,      "0..1",    "detection",    "probability of a saturation shift") \
    X(float,    random_illumination_prob, "0", 0, 1,    "0..1",    "detection",    "probability of a lightness shift (0..255) by max_random_illumination") \
    X(float,    random_contrast_prob, "0", 0, 1,        "0..1",    "detection",    "probability of a contrast change by max_random_contrast") \
    X(float,    rand_mirror_prob,   "0",  0, 1,         "0..1",    "detection",    "probability of a mirrored image, left-right") \
    X(enum imrec_resize_mode, resize_mode, "force", 0, 2, "force|shrink|fit", "detection", "fit to data_shape: stretch; keep, but shrink a larger image; the largest size that fits") \
    X(enum imrec_ctx, ctx,          "gpu", 0, 1,        "gpu|cpu", "auxiliary",    "MXNet's device of a batch: accepted, batches are plain memory") \
    X(int64_t,  device_id,          "0",  -1, INT32_MAX, "",       "auxiliary",    "MXNet's number of that device: accepted, and ignored") \
    X(const char *, source,         "",   0, 65535,     "NAME",    "dataset",      "read path_imgrec with a source of your own: NAME, or ./libmine.so:NAME, maybe NAME(params)") \
    X(int64_t,  num_views,          "1",  1, 256,       "views",   "batch",        "repeated augmentation: images of each sample, one after another in the batch, out of one decode; batch_size is a multiple of it") \
    X(const char *, multi_crop,     "",   0, 4096,      "NxS,...", "batch",        "crops of each sample out of one decode, counts and sizes: 2x224,6x96, or NxHxW; each is a tensor of the batch") \
    X(const char *, multi_crop_area, "",  0, 4096,      "LOW:HIGH,...", "batch",   "shares of the image in random_resized_crop for each size of multi_crop, or one for all: 0.4:1,0.05:0.4") \
    X(const char *, data_shape_schedule, "", 0, 4096,   "SWEEP:C,H,W;...", "batch", "progressive resizing: data_shape from that sweep on, sweeps from 0") \
    X(bool,     boxes,              "0",  0, 1,         "0|1",     "segmentation", "labels are boxes, and every augmenter of aug_default moves them; det_aug_default does so always") \
    X(enum imrec_mask_type, masks,  "none", 0, 3,       "none|uint8|uint16|int32", "segmentation", "deliver the mask of each image, as values of this type") \
    X(int64_t,  ignore_label,       "255", 0, 65535,    "",        "segmentation", "value of a mask where the slot shows nothing of the image") \
    X(int64_t,  keypoints,          "0",  0, 4096,      "points",  "segmentation", "a label (with boxes: each object) ends in this many keypoints of x, y, visibility") \
    X(const char *, keypoint_pairs, "",   0, 4096,      "A-B,...", "segmentation", "keypoints, from 0, that change places when an image is mirrored: left and right eyes") \
    X(bool,     audio,              "0",  0, 1,         "0|1",     "audio",        "records are sounds (WAV, 16 bits): data_shape=(channels,H,W) has H x W samples a channel, channels 1 to 4") \
    X(int64_t,  sample_rate,        "0",  0, INT32_MAX, "Hz",      "audio",        "a sound of another rate fails; 0 = any") \
    X(int64_t,  max_random_shift,   "0",  0, 1 << 30,   "samples", "audio",        "maximum shift of the crop: from [-N, N]; around the sound is silence") \
    X(float,    max_random_gain,    "0",  0, 60,        "dB",      "audio",        "maximum change of loudness: from [-N, N]") \
    X(bool,     subtract_mean,      "0",  0, 1,         "0|1",     "audio",        "subtract each channel's own mean over the crop, before the gain") \
    X(const char *, multi_crop_augment, "", 0, 4096,    "KEY=VALUE,...;...", "batch", "augmentation of each size of multi_crop that differs: gaussian_blur=1;gaussian_blur=0.5,hue=0.1") \
    X(enum imrec_label_dtype, dtype_label, "float32", 0, 2, "float32|float64|int64", "batch", "type of a label, of path_imglist and source= above all: float32 cannot hold every whole number beyond 2^24; labels of records are float32") \
    X(bool,     allow_missing,      "0",  0, 1,         "0|1",     "dataset",      "1 = a set whose directory, glob or manifest lacks shards is read without them, with a warning; 0 = an error") \
    X(bool,     verify_checksums,   "0",  0, 1,         "0|1",     "auxiliary",    "compare every record with its checksum in the .crc next to the shard: a difference is damage")
/* clang-format on */

/* How to read a data set: fill with imrec_iter_options_init(), then change fields. struct_size
 * tells the library which fields this caller knows. Text must stay valid until imrec_iter_open()
 * returns.
 */
struct imrec_iter_options {
    size_t struct_size;
    IMREC_ITER_PARAMS(IMREC_FIELD)
};

/* Operations of RandAugment (Cubuk et al. 2019) and TrivialAugment (Mueller, Hutter 2021). */
enum imrec_op {
    IMREC_OP_IDENTITY,
    IMREC_OP_SHEAR_X,
    IMREC_OP_SHEAR_Y,
    IMREC_OP_TRANSLATE_X,
    IMREC_OP_TRANSLATE_Y,
    IMREC_OP_ROTATE,
    IMREC_OP_BRIGHTNESS,
    IMREC_OP_COLOR,
    IMREC_OP_CONTRAST,
    IMREC_OP_SHARPNESS,
    IMREC_OP_POSTERIZE,
    IMREC_OP_SOLARIZE,
    IMREC_OP_AUTOCONTRAST,
    IMREC_OP_EQUALIZE,
    IMREC_OPS,
};

/* The draws of a sample (docs/guide/augmentation.md); those of augmenters that are off are neutral.
 */
struct imrec_draw {
    uint32_t x, y;          /* top-left corner of the crop in the image it is cut from, px */
    uint32_t width, height; /* of that image: resized, rotated, padded, upright, px */
    bool mirror;            /* left-right */
    bool warped;            /* by the matrix */
    uint8_t resize_method, warp_method, crop_method; /* inter_method, 0..4 */
    uint8_t light_order[3];           /* 0 brightness, 1 contrast, 2 saturation: the first, ... */
    uint32_t crop_width, crop_height; /* of the crop, px; resized to data_shape if it differs */
    int32_t angle;                    /* degrees, counter-clockwise */
    float shear, scale, aspect;
    float matrix[6];                        /* forward: x' = m0 x + m1 y + m2, y' = m3 x + ... */
    uint32_t canvas_width, canvas_height;   /* of the rotated image, px */
    float brightness, contrast, saturation; /* factors */
    int32_t shift_h, shift_l, shift_s;      /* added to hue, lightness, saturation */
    float light[3];                         /* added to red, green, blue */
    float value_contrast;                   /* factor of the slot's values, */
    float value_illumination;               /* and what is added, in units of a pixel */
    uint8_t op_count;      /* operations of RandAugment and TrivialAugment, and their */
    uint8_t op[4];         /* enum imrec_op and */
    float op_magnitude[4]; /* strength: factor, px, degrees, bits, threshold */
    float hue;             /* turns */
    bool grey;
    float blur_sigma;                                     /* px; 0: none */
    uint32_t erase_x, erase_y, erase_width, erase_height; /* of the slot, px; 0: nothing */
    float mix_share;      /* mixup, cutmix: share of the sample itself; 1: all of it */
    uint32_t mix_partner; /* the slot of the rest */
    uint32_t cut_x, cut_y, cut_width, cut_height; /* the partner's rectangle, px */
    /* Detection: width and height above are those of the canvas. */
    uint32_t pad_x, pad_y;          /* position of the image on it, px */
    uint32_t fit_width, fit_height; /* of the image in the slot, px */
    int32_t crop_sampler;           /* the sampler of the crop, from 0; -1: not cropped */
    uint32_t crop_trials;           /* crops tried, by all samplers */
    uint32_t boxes;                 /* that remain */
    int64_t sound_begin;            /* audio: first sample of the crop; below 0: silence */
    float sound_gain;               /* factor */
};

/* A tensor of a batch; multi_crop makes several. */
struct imrec_view {
    const void *data;               /* dtype[slots][C][H][W] or [H][W][C], dense */
    const struct imrec_draw *draws; /* of each slot with record_draws=1, else NULL */
    struct imrec_shape shape;       /* of a slot */
    /* uint8, uint16 or int32[slots][H][W], as `masks` says, dense; NULL without. Slots that are
     * padding or have failed contain ignore_label. */
    const void *masks;
};

/* A batch. The iterator owns every pointer, and keeps it valid until the next imrec_iter_next(),
 * _rewind(), _seek() or _close().
 *
 * Not every slot is a sample. With last_batch=pad, the default, the sweep's last batch ends in
 * padding: slots of zeros with label 0. With repeat, and with equal_batches, it ends in samples
 * that are also delivered elsewhere. With on_error=skip failed slots are zeros with label 0. A loop
 * over a batch stops at `count` (padding is last, except for last_batch=wrap with equal_batches)
 * and, if samples may fail, checks `valid`. */
struct imrec_batch {
    const void *data;                /* dtype[batch_size][C][H][W] or [H][W][C], dense; with
                                        data_shape_schedule views[0].shape is its shape */
    const float *labels;             /* batch_size * label_width */
    const uint64_t *ids;             /* of each slot, from the record's header */
    const uint8_t *valid;            /* of each slot: 1 = a real sample that did not fail */
    const enum imrec_status *status; /* of each slot; not IMREC_OK: data and label are 0 */
    const struct imrec_draw *draws;  /* of each slot with record_draws=1, else NULL */
    uint64_t number;                 /* of the batch since opening, from 0 */
    uint64_t sweep;                  /* of its first sample, from 0 */
    uint32_t slots;                  /* batch_size; with last_batch=partial perhaps fewer */
    uint32_t count;                  /* slots of samples of the sweep, including failed ones */
    uint32_t pad;                    /* slots - count: padding, see above */
    uint32_t failed;                 /* of count: slots whose status is not IMREC_OK */
    uint32_t label_width;            /* floats per sample */
    bool sweep_end;                  /* the last sample of a sweep is in this batch */
    uint64_t epoch; /* of its first sample, from 0; an epoch is a sweep, or epoch_size samples */
    bool epoch_end; /* the last sample of an epoch is in this batch */
    const struct imrec_view *views; /* the batch's tensors; data and draws are those of views[0] */
    uint32_t view_count;            /* 1; with multi_crop all its crops */
    uint32_t repeats;               /* num_views: consecutive slots that a sample fills */
    const void *masks;              /* those of views[0]; NULL without */
    /* With dtype_label=float64 double[slots * label_width], with int64 int64_t[...]: the exact
     * labels of the list or source; `labels` are these, rounded. 0 where labels are 0. NULL with
     * float32. */
    const void *typed_labels;
    uint32_t replaced; /* on_error=replace: of count, slots with another sample of the window
                          (pixels, labels, id, draws) instead of one that failed */
};

/* Times and counts since opening; times are sums over all workers, in ns. */
struct imrec_iter_stats {
    uint64_t io_wait_ns; /* the feed waited for bytes */
    uint64_t feed_ns;    /* the serial step, without that wait */
    uint64_t
        decode_ns; /* workers: compressed to pixels; kernels that run row by row inside it too */
    uint64_t augment_ns;       /* workers: resize and kernels that do not run inside the decode */
    uint64_t consumer_wait_ns; /* workers waited because every batch was ready: slow consumer */
    uint64_t next_wait_ns;     /* the consumer waited in imrec_iter_next() */
    uint64_t bytes_read;       /* from storage */
    uint64_t images;           /* samples made without failure */
    uint64_t failed;           /* slots that failed and were not replaced */
    uint64_t damaged_ranges;   /* reported */
    uint64_t memory_bytes;     /* in use by the iterator now */
    uint64_t memory_planned_bytes; /* the sum that memory_limit is compared with */
    uint32_t workers;
    char advice[160];  /* one sentence: what limits the speed */
    uint64_t decodes;  /* runs of a decoder: one for all views of a sample */
    uint64_t views;    /* images made: num_views times the crops of multi_crop for each sample */
    uint64_t replaced; /* slots with another sample instead of one that failed */
    bool indexed;      /* order and partition are by record (index, CBF files, source), otherwise by
                          bytes and      cells of the shards */
};

struct imrec_iter; /* opaque; one consumer thread at a time */

/* Sets every field to its default. The inline form passes the caller's size of the struct. */
IMREC_API void imrec_iter_options_init_sized(struct imrec_iter_options *o, size_t size);
static inline void imrec_iter_options_init(struct imrec_iter_options *o)
{
    imrec_iter_options_init_sized(o, sizeof(*o));
}

/* Sets one field from "key=value". An unknown key is IMREC_ERR_ARGUMENT, whose message suggests the
 * nearest name; a bad value is one whose message names the range. The text must outlive *o.
 * preset=NAME sets all fields of the recipe at once; later calls change them. (If a C caller sets
 * the field `preset` itself, opening sets the fields of the recipe that still have their default.)
 */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_iter_options_set(struct imrec_iter_options *o,
                                                                   const char *key_value,
                                                                   struct imrec_error *err);

/* Opens the shards, starts the workers, and stores the iterator in *out. On failure *out is NULL
 * and nothing runs. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_open(const struct imrec_iter_options *options, struct imrec_iter **out,
                struct imrec_error *err);

/* Blocks until the next batch, in the planned order, is ready.
 *   IMREC_OK        *out is a batch; with on_error=skip it may contain failed slots, with replace
 *                   slots of other samples (and failed ones if none was found).
 *   IMREC_END       once after the last batch of a sweep (with epoch_size: of an epoch), without
 *                   a batch; the call after it begins the next one. After max_samples, or the sweep
 *                   of epoch_size=FULL_DATA_SWEEP, always.
 *   IMREC_ERR_DATA  on_error=stop, and at least one slot failed or a damaged range was found:
 *                   *out is delivered nevertheless, with failed slots zeroed and flagged in
 *                   `status`; *err describes the first failure (shard, offset, id, reason). The
 *                   following call continues with the next batch.
 *   other errors    no batch; only imrec_iter_close() is allowed afterwards. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_next(struct imrec_iter *it, struct imrec_batch *out, struct imrec_error *err);

/* Waits at most `milliseconds` until imrec_iter_next() would return at once, and returns whether it
 * would. For callers that must handle something else meanwhile, such as signals. */
IMREC_API bool imrec_iter_wait(struct imrec_iter *it, uint32_t milliseconds);

/* Keeps data and masks of the last delivered batch valid until imrec_kept_release(). The iterator
 * continues with other memory: that of batches released before, or new memory. All other pointers
 * of the batch are valid until the next call, as usual. IMREC_ERR_LIMIT: with everything that is
 * kept, the sum would exceed memory_limit; nothing has changed. IMREC_ERR_ARGUMENT: there is no
 * batch, or it is already kept. */
struct imrec_kept;
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_keep(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);
/* Closes the iterator like imrec_iter_close(), but keeps the last delivered batch, without other
 * memory. *out is NULL if there is no batch. On failure (no memory for a few bytes) the iterator is
 * not closed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_close_keeping(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);
/* Releases a kept batch, from any thread, also after imrec_iter_close(). NULL is allowed. */
IMREC_API void imrec_kept_release(struct imrec_kept *k);

/* Counts the samples of a sweep of this partition: from the index or manifest, otherwise by reading
 * the heads of all records, once. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_samples(struct imrec_iter *it, uint64_t *samples, struct imrec_error *err);

/* Goes to the start of the next sweep, from anywhere; with epoch_size an epoch begins there. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_rewind(struct imrec_iter *it, struct imrec_error *err);

/* Returns the position after the last delivered batch, as JSON text (docs/formats/position.md). The
 * iterator owns it; it is valid until the next call. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_position(struct imrec_iter *it, const char **json, struct imrec_error *err);

/* Goes to a position of the same data, seed, partition and order; batch size, threads and prefetch
 * depth may differ. With equal_batches=1 it may be the position of any of the num_parts partitions:
 * each goes to its own place after the same number of samples of the sweep. Without an index this
 * call finds that place by reading the partition from the beginning of the sweep (twice, if its own
 * samples are being repeated); it decodes nothing. On failure the iterator stays where it was. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_iter_seek(struct imrec_iter *it, const char *json, struct imrec_error *err);

/* Returns the index in use: that of the first shard, as it was opened or found (path_imgidx). NULL:
 * none is used. Valid as long as the iterator. */
IMREC_API const char *imrec_iter_index(const struct imrec_iter *it);

IMREC_API void imrec_iter_get_stats(struct imrec_iter *it, struct imrec_iter_stats *out);

/* Stops the workers, also in the middle of a batch, and frees everything. NULL is allowed. */
IMREC_API void imrec_iter_close(struct imrec_iter *it);

#ifdef __cplusplus
}
#endif
#endif
