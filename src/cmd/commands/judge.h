/* The way of berth validate through its input: what is judged, skipped, or reported as unreadable.
 */
#ifndef CMD_COMMANDS_JUDGE_H
#define CMD_COMMANDS_JUDGE_H

#include "cli/opt.h"

struct err;
struct input;
struct input_value;
struct report;
struct verdict_run;

struct judge {
    struct input *in;
    struct verdict_run *run;
    struct report *report;
    const struct opt_list *skip; /* kinds that are not judged: Kind or VERSION/Kind */
    /* Is called before a value is judged; NULL: nothing is to be done. */
    int (*prepare)(void *arg, const struct input_value *value, struct err *err);
    void *arg;
};

/* Reads the input to its end. A file that cannot be read is reported and does not end the run. */
int judge_all(const struct judge *judge, struct err *err);

#endif
