/*
 * Rules that upstream declares beside the fields of its types, as tables: a row for each field of
 * which something is declared, or inside of which something is. One walk (declared_walk.c) reads
 * them all; a field without a row is not looked at.
 */
#ifndef VALID_DECLARED_DECLARED_ROWS_INT_H
#define VALID_DECLARED_DECLARED_ROWS_INT_H

#include "valid/declared_int.h"

/* What is declared of a field. What is neither required nor there ends its rules. */
enum declared_rule {
    D_BETA = 1,              /* in force with the gate DeclarativeValidationBeta, else always */
    D_REQUIRED = 2,          /* must be there, and be no zero */
    D_IMMUTABLE = 4,         /* an update may not change it */
    D_NO_SET = 8,            /* an update may not set it, */
    D_NO_UNSET = 16,         /* may not take it away, */
    D_NO_MODIFY = 32,        /* may not change it into another, */
    D_FIXED_ITEMS = 64,      /* may neither add nor remove items */
    D_UNIQUE = 128,          /* a list whose items differ, by their keys if they have some */
    D_MOST_ITEMS = 256,      /* `most` is that of a list's items, */
    D_MOST_BYTES = 512,      /* of a text's bytes, */
    D_MOST_RUNES = 1024,     /* of a text's characters, */
    D_MOST = 2048,           /* or of the number; */
    D_LEAST = 4096,          /* `least` is that of the number */
    D_MONOTONIC = 8192,      /* a number that never gets smaller */
    D_FORMAT_INSIDE = 16384, /* the format is that of a list's texts, or of a map's keys */
    D_GATED = 32768,         /* the other rules are not in force either while the gate is off */
    D_LENGTH_FIRST = 65536,  /* versions before v1 look at the length before the format */
};

/* How a text is written. */
enum declared_format {
    F_ANY,
    F_SHORT_NAME,
    F_LONG_NAME,
    F_LONG_NAME_CASELESS,
    F_LABEL_KEY,
    F_FOREIGN_LABEL_KEY, /* with a prefix, which is not of Kubernetes' own domains */
    F_PATH_SEGMENT,
    F_UUID,
    F_POOL_NAME,
    F_EXTENDED_RESOURCE,
    F_FULLY_QUALIFIED,
};

struct declared_row {
    const char *field; /* by its JSON name; that of an INLINE row is the type's in Go */
    unsigned rules;    /* enum declared_rule */
    enum declared_format format;
    const char *const *choices; /* the values of an enum, in order; or NULL */
    int64_t least, most;
    const char *keys; /* of a list's items: names joined by commas; NULL: the list has none */
    unsigned gate;    /* FORBIDDEN_WITHOUT(gate): it may not be there while the gate is off */
};

#define FORBIDDEN_WITHOUT(name) ((unsigned)FEATURE_##name + 1)

struct declared_type {
    const struct declared_row
        *rows;                 /* in the order of the type's own; ended by one without field */
    const char *const *united; /* members of which exactly one must be set; or NULL */
    bool is_united_in_beta;
};

/* The rows of a type by its id, or NULL. */
typedef const struct declared_type *declared_types(enum api_type_id type);
declared_types valid__declared_devices, valid__declared_groups, valid__declared_others;

/* One text of a format; v says whether the rule is in force. */
void valid__say_format(struct valid *v, const struct path *p, enum declared_format format,
                       struct str text);

/* Letters, digits and '_', as C has its names. */
bool valid__is_c_identifier(struct str id);
#define C_IDENTIFIER_ERROR                                                             \
    "a valid C identifier must start with alphabetic character or '_', followed by a " \
    "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "    \
    "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

#endif
