/* cli/page_im2rec.c - what im2rec says of itself; the flags are imrec/packer.h's table, and its
 * own. */
#include "cli/page.h"
#include "cli/program_flags.h"

/* clang-format off */
static const struct param table[] = {
#define PARAM_STRUCT struct imrec_pack_options
    IMREC_PACK_PARAMS(PARAM_ROW)
#undef PARAM_STRUCT
#define PARAM_STRUCT struct im2rec_flags
    IM2REC_PARAMS(PARAM_ROW)
    {0}};
/* clang-format on */

const struct cli_page cli_page_im2rec = {
    .name = "im2rec",
    .summary = "pack images into RecordIO shards",
    .usage = {"[OPTIONS] FOLDER OUT.rec", "[OPTIONS] LIST.lst ROOT OUT.rec",
              "[OPTIONS] A.tar|A.tfrecord [B.tar.gz ...] OUT.rec", "--list [OPTIONS] FOLDER PREFIX",
              "--annotations FILE|FOLDER [OPTIONS] ROOT OUT.rec",
              "--append [OPTIONS] FOLDER OUT.rec", "[OPTIONS] PREFIX ROOT",
              "--plan PLAN [--tasks N] [OPTIONS] FOLDER OUT.rec", "--work PLAN [K | K/N]",
              "--status PLAN", "--finish PLAN"},
    .text =
        "Packs the images of FOLDER, one class a sub-folder, those that LIST.lst names below\n"
        "ROOT, or those of WebDataset's archives or of TFRecord files (also of a folder of them),\n"
        "into OUT.rec, with its index, list, class list, checksums and manifest next to it.\n"
        "The files get their names when all is written; an interrupted run leaves no set,\n"
        "and --resume continues it. The bytes are the same for every number of threads.\n"
        "\n"
        "An image that cannot be packed is skipped and counted; the first ten are named with\n"
        "their reasons. --max-skipped ends a run that skips too many.\n"
        "\n"
        "--annotations packs the boxes of COCO (a JSON file) or Pascal VOC (a folder of XML "
        "files)\n"
        "as labels: 2 6, then class, xmin, ymin, xmax, ymax (shares of the sides), difficult, for\n"
        "each object. --augment takes key=value operands up to the next one that is none.\n"
        "\n"
        "Options may be anywhere. key=value may follow the operands, also in the spelling of\n"
        "MXNet's im2rec: color, resize (-1: keep), label_width, pack_label, center_crop, "
        "quality,\n"
        "encoding=.jpg|.png, unchanged (pass-through), inter_method, nsplit and part (shares of "
        "the\n"
        "list; .part000 is appended to the name). The flags of MXNet's im2rec.py are taken too:\n"
        "--recursive (--class-from leaf), --no-recursive (flat), --num-thread (--threads),\n"
        "--exts .a .b, --encoding .jpg; and its operands: where the first one is not a folder and\n"
        "the second one is, PREFIX.lst, PREFIX_N.lst and PREFIX_{train,test,val}.lst are packed.\n"
        "\n"
        "--plan, --work and --finish pack one set on many machines; its bytes are the same. PLAN "
        "is\n"
        "a folder, or the URI of one in a store, that all of them reach.\n"
        "\n"
        "--quality is 1..100 for JPEG; for PNG 1..9, and larger values are taken as 3.",
    .table = table,
    .examples =
        "  im2rec --resize 256 photos/ train.rec\n"
        "  im2rec --list --train-ratio 0.9 photos/ set\n"
        "  im2rec --resize 256 --augment rand_mirror=1 max_rotate_angle=10 --copies 4 photos/ "
        "train.rec\n"
        "  im2rec --annotations instances_train2017.json train2017/ coco.rec\n"
        "  im2rec --pass-through --shards 8 set_train.lst photos/ train.rec\n"
        "  im2rec --plan job --resize 256 photos/ train.rec\n"
        "  im2rec --work job && im2rec --finish job\n",
    .exits = "0 all packed or finished before, 1 failed, 2 wrong usage, 3 some images skipped",
};
