/* One pass over the bytes; strings are copied as they are. */
#include "server/indent.h"

static void break_line(struct buf *out, size_t depth) {
    buf_add_char(out, '\n');
    for (size_t i = 0; i < depth; i++)
        buf_add(out, STR("  "));
}

/* The place behind the string that begins at i. */
static size_t end_of_string(struct str json, size_t i) {
    for (i++; i < json.n && json.p[i] != '"'; i++)
        i += json.p[i] == '\\';
    return i < json.n ? i + 1 : json.n;
}

static bool opens(char c) {
    return c == '{' || c == '[';
}

static bool closes(char c) {
    return c == '}' || c == ']';
}

/* Something that opens, unless it is empty and closes at once. */
static size_t open_level(struct buf *out, struct str json, size_t i, size_t *depth) {
    buf_add_char(out, json.p[i]);
    if (i + 1 < json.n && closes(json.p[i + 1])) {
        buf_add_char(out, json.p[i + 1]);
        return i + 2;
    }
    break_line(out, ++*depth);
    return i + 1;
}

static void mark(struct buf *out, char c, size_t *depth) {
    if (closes(c)) {
        *depth -= *depth > 0;
        break_line(out, *depth);
    }
    buf_add_char(out, c);
    if (c == ',')
        break_line(out, *depth);
    if (c == ':')
        buf_add_char(out, ' ');
}

void server_indent(struct buf *out, struct str json) {
    size_t depth = 0;
    while (json.n && json.p[json.n - 1] == '\n')
        json.n--;
    for (size_t i = 0; i < json.n;) {
        if (opens(json.p[i]))
            i = open_level(out, json, i, &depth);
        else if (json.p[i] == '"') {
            size_t end = end_of_string(json, i);
            buf_add(out, str_sub(json, i, end));
            i = end;
        } else
            mark(out, json.p[i++], &depth);
    }
}
