/* Where something was read. */
#include "cmd/source.h"

#include "base/printable.h"

/* A path with more bytes would leave no room for the text of an error. */
enum { LONGEST_PATH_SHOWN = 250 };

void input_write_place(struct buf *out, struct str file, uint32_t line) {
    printable_add(out, file);
    if (line)
        buf_addf(out, ":%u", line);
}

int input_fail_at(const struct input_source *source, struct err *err) {
    bool is_long = source->file.n > LONGEST_PATH_SHOWN;
    size_t from = is_long ? source->file.n - LONGEST_PATH_SHOWN : 0;
    struct str file = str_sub(source->file, from, source->file.n);
    const char *cut = is_long ? "..." : "";
    if (source->line == 0)
        return err_wrap(err, "%s%.*s", cut, STR_ARG(file));
    if (source->column == 0)
        return err_wrap(err, "%s%.*s:%u", cut, STR_ARG(file), source->line);
    return err_wrap(err, "%s%.*s:%u:%u", cut, STR_ARG(file), source->line, source->column);
}
