/*
 * The naming rules of Kubernetes: label keys, label values and DNS names, with the messages of
 * upstream's validators in upstream's order and wording.
 *
 * A message says what is wrong with the name but not where the name stands: whoever validates a
 * field puts path and value before it, and joins several messages the way that place upstream does.
 */
#ifndef API_NAMES_H
#define API_NAMES_H

#include "base/buf.h"
#include "base/str.h"

/* What is wrong with a name; n == 0 says that it is good. The texts are constants. */
struct names_errs {
    size_t n;
    struct str v[4]; /* no rule has more: two for a prefix, two for the name behind it */
};

/* A label key, which upstream also calls a qualified name: [DNS subdomain "/"] name. */
struct names_errs names_check_label_key(struct str key);

/* A label value: empty, or at most 63 alphanumeric characters with -, _ and . between them. */
struct names_errs names_check_label_value(struct str value);

/* An RFC 1123 label, such as the name of a namespace. */
struct names_errs names_check_dns1123_label(struct str name);

/* RFC 1123 labels joined by dots, such as the name of a pod or a node. */
struct names_errs names_check_dns1123_subdomain(struct str name);

/* The same in letters of either case, with a message of its own. */
struct names_errs names_check_dns1123_caseless(struct str name);

/* The same with underscores in and before the labels, as search domains of a resolver have them. */
struct names_errs names_check_dns1123_underscore(struct str name);

/* An RFC 1035 label, which starts with a letter, such as the name of a service. */
struct names_errs names_check_dns1035_label(struct str name);

/* What Kubernetes makes names of: no vowels, so that no word comes of it. */
#define NAMES_LETTERS "bcdfghjklmnpqrstvwxz2456789"

/* Appends the messages with sep between them. */
void names_errs_join(struct buf *out, const struct names_errs *errs, struct str sep);

#endif
