/*
 * Stand-ins: a dump is mostly one without ConfigMaps and Secrets, and yet its pods run with them.
 * Pods that are made again in the twin are to do so, too.
 */
#ifndef CMD_COMMANDS_STAND_INS_H
#define CMD_COMMANDS_STAND_INS_H

#include "base/map.h"
#include "cmd/serve.h"

/* What pods run with. */
struct stand_ins {
    struct map wanted, keys; /* by kind, namespace and name; and with a key behind these */
    struct arena arena;      /* of texts */
};

/* Nothing, yet. Release it with stand_ins_release. */
void stand_ins_init(struct stand_ins *all);
void stand_ins_release(struct stand_ins *all);

/* Notes what a pod that runs refers to; nothing is borrowed. Others run with nothing yet. */
void stand_ins_note(struct stand_ins *all, const struct api_object *pod);

/* Makes those that are not stored, with the keys that are asked for and without values, and tells
 * of them. */
void stand_ins_make(struct stand_ins *all, struct serve *s);

#endif
