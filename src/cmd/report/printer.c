/* Prints objects one by one into a list that never exists in memory. */
#include "cmd/report/printer.h"

#include <assert.h>

#include "api/object.h"
#include "codec/yml.h"

/* Output waits in this much memory before it goes to a file. */
enum { SPOOL_BYTES = 8 << 20 };

const char *const printer_formats[] = {[PRINTER_JSON] = "json", [PRINTER_YAML] = "yaml", NULL};

void printer_write(enum printer_format format, const struct json *value, struct buf *out) {
    if (format == PRINTER_YAML) {
        yml_write(out, value);
        return;
    }
    json_write(out, value, &(struct json_style){.indent = 4, .sort_keys = true});
    buf_add_char(out, '\n');
}

/*
 * An item is printed as {"items":[item]} and freed of what stands around it, so that it looks
 * exactly as in the whole list, which never exists in memory.
 */
struct frame {
    struct str before_item, behind_item; /* what printer_write puts around an item */
    struct str head, separator, tail;    /* of the list */
    struct str empty;                    /* a list without items */
};

static const struct frame frames[] = {
    [PRINTER_JSON] =
        {
            .before_item = STR_INIT("{\n    \"items\": [\n"),
            .behind_item = STR_INIT("\n    ]\n}\n"),
            .head = STR_INIT("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n"),
            .separator = STR_INIT(",\n"),
            .tail = STR_INIT("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n"
                             "        \"resourceVersion\": \"\"\n    }\n}\n"),
            .empty = STR_INIT("{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n"
                              "    \"kind\": \"List\",\n    \"metadata\": {\n"
                              "        \"resourceVersion\": \"\"\n    }\n}\n"),
        },
    [PRINTER_YAML] =
        {
            .before_item = STR_INIT("items:\n"),
            .behind_item = STR_INIT(""),
            .head = STR_INIT("apiVersion: v1\nitems:\n"),
            .separator = STR_INIT(""),
            .tail = STR_INIT("kind: List\nmetadata:\n  resourceVersion: \"\"\n"),
            .empty = STR_INIT("apiVersion: v1\nitems: []\nkind: List\nmetadata:\n"
                              "  resourceVersion: \"\"\n"),
        },
};

void printer_init(struct printer *p, const struct cmd_ctx *ctx, enum printer_format format) {
    *p = (struct printer){.ctx = ctx, .format = format, .text = BUF_INIT(PRINTER_MOST_BYTES)};
    spool_init(&p->spool, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
}

static int add_text(struct printer *p, struct str before, struct str behind,
                    const struct input_source *source, struct err *err) {
    if (p->text.full) {
        err_set(err, ERR_TOO_LARGE, "object needs more than %d MiB when printed",
                PRINTER_MOST_BYTES >> 20);
        return input_fail_at(source, err);
    }
    struct str text = str_sub(buf_view(&p->text), before.n, p->text.n - behind.n);
    return spool_add(&p->spool, text, err);
}

static int print_single(struct printer *p, struct err *err) {
    struct json value = api_object_encode(p->first, &p->arena);
    printer_write(p->format, &value, &p->text);
    return add_text(p, STR(""), STR(""), &p->first_source, err);
}

static int print_item(struct printer *p, const struct api_object *o,
                      const struct input_source *source, struct err *err) {
    struct json items = {.kind = JSON_ARRAY}, list = {.kind = JSON_OBJECT};
    json_append(&p->arena, &items, api_object_encode(o, &p->arena));
    json_add(&p->arena, &list, STR("items"), items);
    printer_write(p->format, &list, &p->text);
    const struct frame *f = &frames[p->format];
    int rc = add_text(p, f->before_item, f->behind_item, source, err);
    buf_clear(&p->text);
    arena_reset(&p->arena);
    return rc;
}

static int print_list_start(struct printer *p, struct err *err) {
    if (spool_add(&p->spool, frames[p->format].head, err) < 0)
        return -1;
    return print_item(p, p->first, &p->first_source, err);
}

static int print_list_end(struct printer *p, struct err *err) {
    const struct frame *f = &frames[p->format];
    if (p->count == 0)
        return spool_add(&p->spool, f->empty, err);
    if (p->count == 1 && print_list_start(p, err) < 0)
        return -1;
    return spool_add(&p->spool, f->tail, err);
}

int printer_add(struct printer *p, struct api_object *o, const struct input_source *source,
                struct err *err) {
    if (p->count++ == 0) {
        p->first = o;
        p->first_source = *source;
        return 0;
    }
    int rc = p->count == 2 ? print_list_start(p, err) : 0;
    if (rc == 0)
        rc = spool_add(&p->spool, frames[p->format].separator, err);
    if (rc == 0)
        rc = print_item(p, o, source, err);
    api_object_free(o);
    return rc;
}

int printer_finish(struct printer *p, struct err *err) {
    assert(p->count > 0 || p->list);
    int rc = p->count == 1 && !p->list ? print_single(p, err) : print_list_end(p, err);
    return rc < 0 ? -1 : spool_copy(&p->spool, p->ctx->out, err);
}

void printer_release(struct printer *p) {
    api_object_free(p->first);
    arena_release(&p->arena);
    buf_release(&p->text);
    spool_release(&p->spool);
}
