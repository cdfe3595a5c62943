/*
 * Order and text of versions; the parser is in semver_parse.c.
 *
 * Follows github.com/blang/semver/v4, func (Version) Compare, func (Version) String,
 * func (PRVersion) Compare.
 */
#include "semver/semver.h"

static struct str id_text(const struct semver_id *id) {
    return (struct str){id->text, (size_t)id->number};
}

/* Numbers come before texts. */
static int cmp_ids(const struct semver_id *a, const struct semver_id *b) {
    if (!a->text && !b->text)
        return (a->number > b->number) - (a->number < b->number);
    if (!a->text || !b->text)
        return a->text ? 1 : -1;
    int order = str_cmp(id_text(a), id_text(b));
    return (order > 0) - (order < 0);
}

int semver_cmp_pre(const struct semver *a, const struct semver *b) {
    /* A release comes after all its pre-releases. */
    if (a->pre_count == 0 || b->pre_count == 0)
        return (a->pre_count == 0) - (b->pre_count == 0);
    for (size_t i = 0; i < a->pre_count && i < b->pre_count; i++) {
        int order = cmp_ids(&a->pre[i], &b->pre[i]);
        if (order != 0)
            return order;
    }
    return (a->pre_count > b->pre_count) - (a->pre_count < b->pre_count);
}

static void write_id(struct buf *out, const struct semver_id *id) {
    if (id->text)
        buf_add(out, id_text(id));
    else
        buf_add_u64(out, id->number);
}

void semver_write(struct buf *out, const struct semver *v) {
    buf_add_u64(out, v->major);
    buf_add_char(out, '.');
    buf_add_u64(out, v->minor);
    buf_add_char(out, '.');
    buf_add_u64(out, v->patch);
    for (size_t i = 0; i < v->pre_count; i++) {
        buf_add_char(out, i == 0 ? '-' : '.');
        write_id(out, &v->pre[i]);
    }
    if (v->build_length) {
        buf_add_char(out, '+');
        buf_add(out, (struct str){v->build, v->build_length});
    }
}
