/*
 * What tools do with the file of a store: look whether it is good, dump and restore it, make it
 * smaller. Checking and dumping may be done while a server has the store open.
 */
#ifndef STORE_OFFLINE_H
#define STORE_OFFLINE_H

#include "store/store.h"

/* Something in the file that is not as it should be. */
struct store_finding {
    struct str subject; /* "configmaps a/x at revision 7", or empty: the file */
    struct str text;
};

struct store_check {
    uint64_t revision;  /* the newest */
    uint64_t records;   /* that were looked at */
    uint64_t objects;   /* that are there now */
    uint64_t bytes;     /* of all values */
    uint64_t resources; /* that the file knows */
    struct store_finding findings[LIMIT_STORE_FINDINGS];
    size_t n;      /* findings that are listed */
    uint64_t more; /* and that are not */
};

/* Reads every record of the store in a directory, and holds it against its checksum and the records
 * before it. What is found is data; -1 when the file cannot be read as a store at all. Texts are
 * in the arena. */
int store_check(const char *directory, struct arena *a, struct store_check *out, struct err *err);

/* An object of a dump. Borrowed for the call. */
struct store_dumped {
    struct str resource, namespace, name;
    uint64_t revision;
    struct str json;
};

/* Called with each object; -1 ends the dump. */
typedef int store_dump_fn(void *ctx, const struct store_dumped *object, struct err *err);

/* Hands out all objects that are there at one moment, in the order of their revisions, and
 * *revision of that moment, which is known before the first call. A server goes on writing
 * meanwhile; the file grows until the dump has ended. */
int store_dump(const char *directory, uint64_t *revision, store_dump_fn *fn, void *ctx,
               struct err *err);

/* Added to the revision of a dump, so that what is restored from it never has a revision that
 * somebody may have seen since: ten thousand writes per second for a day. */
#define STORE_RESTORE_AHEAD UINT64_C(1000000000)

/* Opens a store in a directory where there is none yet, with revisions above this one. Objects of a
 * dump are put and committed as any others; they keep all but their resourceVersion. Whoever has
 * watched before is told to list again. */
int store_restore_open(const struct store_opts *opts, uint64_t above, struct store **out,
                       struct err *err);

struct store_compacted {
    uint64_t before, after; /* bytes of the file */
};

/* Rewrites the file without unused space. Nobody may have it open, and it must be good. */
int store_compact(const char *directory, struct store_compacted *out, struct err *err);

#endif
