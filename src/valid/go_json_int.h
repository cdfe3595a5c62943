/*
 * Lists of Go structs in annotations, read by rows: one for each member.
 */
#ifndef VALID_GO_JSON_INT_H
#define VALID_GO_JSON_INT_H

#include "valid/valid_int.h"

struct go_field {
    const char *name;                      /* Toleration.Key: as Go's errors call it */
    const char *type;                      /* of Go */
    enum { GO_STR, GO_I64, GO_TIME } kind; /* struct str, struct api_opt_i64, struct api_time */
    size_t offset;
};

struct go_struct {
    const char *list_type, *type; /* []core.Toleration, core.Toleration */
    size_t size;
    const struct go_field *fields; /* ended by a row without a name */
};

/*
 * Reads a JSON text into *list, a list of structs with these rows, in the arena; strings are
 * borrowed from the text or live in the arena. -1 with Go's text in err, which must be zeroed.
 */
int valid__read_go_list(struct arena *a, const struct go_struct *s, struct str text, void *list,
                        struct err *err);

/* Why Go does not read the text into a map of anything; empty: it does. In the arena. */
struct str valid__go_object_fault(struct arena *a, struct str text);

#endif
