/* Any bytes in pieces of any size, the first byte tells which: the lines are those of the bytes as
 * a whole. */
#include "check.h"
#include "client/http/watch_lines_int.h"

static int join(void *arg, struct str line, struct err *err) {
    (void)err;
    CHECK(line.n && str_find_char(line, '\n') == STR_NONE);
    buf_add(arg, line);
    buf_add_char(arg, '\n');
    return 0;
}

static void split(struct str text, size_t piece, struct buf *out) {
    struct client__lines lines = {0};
    struct err err = {0};
    for (size_t at = 0; at < text.n; at += piece)
        CHECK(client__lines_feed(&lines, str_sub(text, at, at + piece), join, out, &err) == 0);
    client__lines_release(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct buf pieces = BUF_INIT(SIZE_MAX), whole = BUF_INIT(SIZE_MAX);
    split(text, data[0] % 64u + 1, &pieces);
    split(text, text.n, &whole);
    CHECK(str_eq(buf_view(&pieces), buf_view(&whole)));
    buf_release(&pieces);
    buf_release(&whole);
    return 0;
}
