/* iter/options/presets.c - whole recipes by one word. */
#include "iter/options/presets.h"

#include "base/param.h"

#include <string.h>

#define ORIGINAL_MEAN "mean_r=123.68 mean_g=116.779 mean_b=103.939 "
#define ORIGINAL_STD  "std_r=58.393 std_g=57.12 std_b=57.375"
/* 255 times (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225) */
#define TORCH_VALUES                                                                               \
    "mean_r=123.675 mean_g=116.28 mean_b=103.53 std_r=58.395 std_g=57.12 std_b=57.375"
#define AREAS                                                                                      \
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 "                            \
    "max_aspect_ratio=1.3333334 rand_mirror=1 shuffle=1 "

/* The references of torchvision, with Pillow's resizes: the first recipe, and the one of 2021 with
 * TrivialAugment, erasing, crops of 176 px, and 224 out of 232 px for the evaluation. */
#define TORCH    "rrc_style=torch resize_style=pillow fill_value=0 "
#define TORCH224 "data_shape=3,224,224 " TORCH
#define V2_TRAIN "data_shape=3,176,176 " TORCH AREAS "trivial_augment=1 "
#define V2_EVAL  "data_shape=3,224,224 " TORCH "resize=232 "
#define ERASE    "random_erasing=0.1"

static const struct {
    const char *name, *words;
} presets[] = {
    {"imagenet-train", "data_shape=3,224,224 " AREAS "brightness=0.4 contrast=0.4 saturation=0.4 "
                       "pca_noise=0.1 " ORIGINAL_MEAN ORIGINAL_STD},
    {"imagenet-eval", "data_shape=3,224,224 resize=256 " ORIGINAL_MEAN ORIGINAL_STD},
    {"imagenet-train-torch",
     "data_shape=3,224,224 rrc_style=torch antialias=1 " AREAS TORCH_VALUES},
    {"imagenet-train-torch-scaled",
     "data_shape=3,224,224 rrc_style=torch antialias=1 scale_decode=auto " AREAS TORCH_VALUES},
    {"imagenet-train-torch-v1", TORCH224 AREAS TORCH_VALUES},
    {"imagenet-train-torch-v1-uint8", TORCH224 AREAS "dtype=uint8"},
    {"imagenet-train-torch-v1-bfloat16", TORCH224 AREAS TORCH_VALUES " dtype=bfloat16"},
    {"imagenet-eval-torch-v1", TORCH224 "resize=256 " TORCH_VALUES},
    {"imagenet-eval-torch-v1-uint8", TORCH224 "resize=256 dtype=uint8"},
    {"imagenet-eval-torch-v1-bfloat16", TORCH224 "resize=256 dtype=bfloat16 " TORCH_VALUES},
    {"imagenet-train-torch-v2", V2_TRAIN ERASE " " TORCH_VALUES},
    {"imagenet-train-torch-v2-uint8", V2_TRAIN ERASE " dtype=uint8"},
    {"imagenet-train-torch-v2-bfloat16", V2_TRAIN ERASE " dtype=bfloat16 " TORCH_VALUES},
    {"imagenet-eval-torch-v2", V2_EVAL TORCH_VALUES},
    {"imagenet-eval-torch-v2-uint8", V2_EVAL "dtype=uint8"},
    {"imagenet-eval-torch-v2-bfloat16", V2_EVAL "dtype=bfloat16 " TORCH_VALUES},
    {"imagenet-eval-torch",
     "data_shape=3,224,224 rrc_style=torch antialias=1 resize=256 " TORCH_VALUES},
    /* A value that is text is last: it is borrowed from here. */
    /* MXNet's iterators: their defaults where they differ from ours. */
    {"ImageRecordIter", "last_batch=repeat dtype=float32"},
    {"ImageRecordIter_v1", "last_batch=repeat dtype=float32"},
    {"ImageRecordUInt8Iter", "last_batch=repeat dtype=uint8"},
    {"ImageRecordUInt8Iter_v1", "last_batch=repeat dtype=uint8"},
    {"ImageRecordInt8Iter", "last_batch=repeat dtype=int8"},
    {"ImageDetRecordIter",
     "last_batch=repeat dtype=float32 label_width=-1 fill_value=127 aug_seq=det_aug_default"},
};
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

const char *preset_words(const char *name)
{
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].words;
    return NULL;
}

const char *preset_name(size_t i)
{
    return i < PRESETS ? presets[i].name : NULL;
}

const char *preset_nearest(const char *name)
{
    struct param names[PRESETS + 1] = {{0}};
    const size_t n = strlen(name);
    for (int i = 0; i < PRESETS; i++)
        names[i].name = presets[i].name;
    const struct param *p = param_nearest(names, name, n);
    for (int i = 0; p == NULL && n != 0 && i < PRESETS; i++)
        if (strncmp(presets[i].name, name, n) == 0) /* it was cut */
            p = &names[i];
    return p != NULL ? preset_name((size_t)(p - names)) : NULL;
}
