/*
 * How a server refuses what somebody may not do.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers/responsewriters, func ForbiddenStatusError.
 * Follows k8s.io/apimachinery pkg/api/errors, func NewForbidden.
 */
#include "auth/auth.h"
#include "base/buf.h"
#include "base/goquote.h"

/* The parts of a sentence: words and quoted texts take turns. */
static void write_quoted(struct buf *b, const char *before, struct str text) {
    buf_add(b, str_of(before));
    goquote_write(b, text);
}

static void write_resource(struct buf *b, const struct auth_attributes *q) {
    AUTO(buf_release) struct buf resource = BUF_INIT(SIZE_MAX);
    buf_add(&resource, q->resource);
    if (q->subresource.n) {
        buf_add_char(&resource, '/');
        buf_add(&resource, q->subresource);
    }
    write_quoted(b, " resource ", buf_view(&resource));
    write_quoted(b, " in API group ", q->group);
    if (q->namespace.n)
        write_quoted(b, " in the namespace ", q->namespace);
    else
        buf_add(b, STR(" at the cluster scope"));
}

static void write_sentence(struct buf *b, const struct auth_attributes *q) {
    write_quoted(b, "User ", q->user->name);
    buf_add(b, STR(" cannot "));
    buf_add(b, q->verb);
    if (q->is_resource)
        write_resource(b, q);
    else
        write_quoted(b, " path ", q->path);
}

/* Browsers must not take the answer for HTML. */
static void add_sanitized(struct buf *b, struct str text) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '&')
            buf_add(b, STR("&amp;"));
        else if (c == '<')
            buf_add(b, STR("&lt;"));
        else if (c == '>')
            buf_add(b, STR("&gt;"));
        else
            buf_add_char(b, c);
    }
}

struct registry_failure auth_refuse(struct arena *a, struct str group, struct str resource,
                                    struct str name, struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, resource);
    if (resource.n && group.n) {
        buf_add_char(&text, '.');
        buf_add(&text, group);
    }
    if (resource.n && name.n)
        write_quoted(&text, " ", name);
    buf_add(&text, resource.n ? STR(" is forbidden: ") : STR("forbidden: "));
    buf_add(&text, why);
    return (struct registry_failure){.code = ERR_FORBIDDEN,
                                     .message = arena_str(a, buf_view(&text)),
                                     .group = group,
                                     .kind = resource,
                                     .name = name,
                                     .has_details = true};
}

struct registry_failure auth_forbidden(struct arena *a, const struct auth_attributes *q,
                                       struct str reason) {
    AUTO(buf_release) struct buf plain = BUF_INIT(SIZE_MAX);
    AUTO(buf_release) struct buf why = BUF_INIT(SIZE_MAX);
    write_sentence(&plain, q);
    add_sanitized(&why, buf_view(&plain));
    if (reason.n) {
        buf_add(&why, STR(": "));
        buf_add(&why, reason);
    }
    return auth_refuse(a, q->group, q->resource, q->name, buf_view(&why));
}

struct registry_failure auth_unauthorized(void) {
    return (struct registry_failure){.code = ERR_UNAUTHORIZED, .message = STR("Unauthorized")};
}
