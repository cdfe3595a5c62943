/* Power failures behind a kill. */
#ifndef CRASH_CUT_H
#define CRASH_CUT_H

#include <stdint.h>

/* How much of what no sync has made durable is taken away. */
enum cut_how {
    CUT_ALL,     /* all of it */
    CUT_SOME,    /* some writes, others stay */
    CUT_SECTORS, /* some sectors of some writes */
    CUT_HOWS
};

/*
 * Takes from the files of a store's directory what a power failure could have taken: each write of
 * the journal behind the last sync of its file is kept, lost or torn, as the seed decides. Returns
 * how many writes were not kept whole, or -1 with errno.
 */
int cut_power(const char *directory, const char *journal, enum cut_how how, uint64_t seed);

#endif
