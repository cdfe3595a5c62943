/*
 * Bytes to tokens. Two things make YAML's tokens more than its characters: indentation, which opens
 * and closes block collections, and simple keys, which are known as keys only when a ':' follows.
 * So tokens wait in a queue while the first of them may still become a key; that ends with the line
 * or after 1024 characters, which bounds the queue.
 *
 * The input fails once and for all. Then the text ends there, and whatever comes of that is
 * replaced by the input's error, so that only two places must look for it.
 *
 * Follows go.yaml.in/yaml/v2, func yaml_parser_fetch_next_token, func yaml_parser_fetch_value,
 * func yaml_parser_scan_to_next_token.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "codec/yml/yml_scan_int.h"

enum { LONGEST_SIMPLE_KEY = 1024 };

void yml__scan_open(struct yml_scanner *s, docs_read_fn *read, void *ctx) {
    *s = (struct yml_scanner){.line = 1, .column = 1, .indent = -1, .key_allowed = true};
    s->input = (struct yml_input){
        .read = read, .ctx = ctx, .line = 1, .column = 1, .dashes = YML_NO_SEPARATOR};
    s->window = xmalloc(YML_WINDOW + YML_LOOKAHEAD);
    s->p = s->end = s->window;
    s->text = BUF_INIT(2 * (size_t)LIMIT_OBJECT_BYTES); /* the escapes "\L" and "\P" are longer
                                                           than what they stand for */
    vec_push(&s->keys, (struct yml_simple_key){0});
}

void yml__scan_close(struct yml_scanner *s) {
    free(s->window);
    vec_release(&s->tokens);
    vec_release(&s->keys);
    vec_release(&s->indents);
    buf_release(&s->text);
    arena_release(&s->texts);
}

/* --- errors --- */

void yml__scan_place(const struct yml_scanner *s, struct yml_mark mark, uint32_t *line,
                     uint32_t *column) {
    *column = (uint32_t)mark.column + (mark.line == 0 ? s->column : 1);
    *line = mark.line + s->line;
}

/* The line is counted from 0, but for errors of the scanner, and a first one is not told.
 *
 * Follows go.yaml.in/yaml/v2 ., func (*parser) fail. */
static int fail_in_go(struct yml_mark mark, const struct yml_context *context, const char *problem,
                      bool is_scanner, struct err *err) {
    uint32_t line = mark.line ? mark.line + is_scanner : context ? context->from.line : 0;
    if (!line)
        return err_set(err, ERR_INVALID, "yaml: %s", problem);
    return err_set(err, ERR_INVALID, "yaml: line %u: %s", (unsigned)line, problem);
}

int yml__fail_at(const struct yml_scanner *s, struct yml_mark mark,
                 const struct yml_context *context, const char *problem, struct err *err) {
    uint32_t line, column, from_line, from_column;
    if (s->go_words)
        return fail_in_go(mark, context, problem, false, err);
    yml__scan_place(s, mark, &line, &column);
    if (!context)
        return err_set_at(err, ERR_INVALID, line, column, "%s", problem);
    yml__scan_place(s, context->from, &from_line, &from_column);
    return err_set_at(err, ERR_INVALID, line, column, "%s (%s at line %u, column %u)", problem,
                      context->what, from_line, from_column);
}

static int input_error(const struct yml_scanner *s, struct err *err) {
    if (err)
        *err = s->input.err;
    return -1;
}

int yml__fail(const struct yml_scanner *s, const struct yml_context *context, const char *problem,
              struct err *err) {
    if (s->input.failed && s->end - s->p < YML_LOOKAHEAD)
        return input_error(s, err);
    if (s->go_words)
        return fail_in_go(s->mark, context, problem, true, err);
    return yml__fail_at(s, s->mark, context, problem, err);
}

/* --- moving --- */

void yml__refill(struct yml_scanner *s) {
    size_t left = (size_t)(s->end - s->p);
    memmove(s->window, s->p, left);
    while (left < YML_LOOKAHEAD && !s->at_end) {
        size_t got = yml__input_read(&s->input, s->window + left, YML_WINDOW - left);
        s->at_end = got == 0;
        left += got;
    }
    memset(s->window + left, 0, YML_LOOKAHEAD);
    s->p = s->window;
    s->end = s->window + left;
}

void yml__skip_break(struct yml_scanner *s) {
    unsigned length = yml__break_length(s->p);
    if (!length)
        return;
    s->mark.index += length == 2 && *s->p == '\r' ? 2 : 1;
    s->mark.column = 0;
    s->mark.line++;
    s->p += length;
}

void yml__skip_blanks(struct yml_scanner *s) {
    for (yml__fill(s); yml__is_blank(*s->p); yml__fill(s))
        yml__advance(s, 1);
}

/* Moves to the end of the line. */
static void skip_comment(struct yml_scanner *s) {
    for (yml__fill(s); !yml__is_line_end(s->p); yml__fill(s))
        yml__advance_char(s);
}

int yml__skip_rest_of_line(struct yml_scanner *s, const struct yml_context *context,
                           struct err *err) {
    yml__skip_blanks(s);
    if (*s->p == '#')
        skip_comment(s);
    if (!yml__is_line_end(s->p))
        return yml__fail(s, context, "did not find expected comment or line break", err);
    yml__skip_break(s);
    return 0;
}

/* Behind a separator kubectl reads a text of its own, which may begin with a byte order mark. */
static void skip_byte_order_mark(struct yml_scanner *s) {
    yml__fill(s);
    if (s->input.stream && s->mark.line == s->document_line && memcmp(s->p, "\xEF\xBB\xBF", 3) == 0)
        s->p += 3;
}

/* Tabs may stand where they cannot be taken for indentation. */
static void skip_to_token(struct yml_scanner *s) {
    for (;;) {
        for (yml__fill(s); *s->p == ' ' || (*s->p == '\t' && (yml__in_flow(s) || !s->key_allowed));
             yml__fill(s))
            yml__advance(s, 1);
        if (*s->p == '#')
            skip_comment(s);
        if (!yml__break_length(s->p))
            return;
        yml__skip_break(s);
        skip_byte_order_mark(s);
        if (!yml__in_flow(s))
            s->key_allowed = true;
    }
}

/* --- the queue of tokens --- */

/* The number that the next token gets. */
static size_t next_number(const struct yml_scanner *s) {
    return s->taken + (s->tokens.n - s->head);
}

struct yml_token *yml__add_token(struct yml_scanner *s, enum yml_token_kind kind,
                                 struct yml_mark start) {
    vec_push(&s->tokens, (struct yml_token){
                             .kind = kind, .level = s->keys.n - 1, .start = start, .end = s->mark});
    return &s->tokens.v[s->tokens.n - 1];
}

/* Puts a token without text in front of the one that has this number. */
static void insert_token(struct yml_scanner *s, size_t number, enum yml_token_kind kind,
                         struct yml_mark mark) {
    size_t at = s->head + (number - s->taken);
    yml__add_token(s, kind, mark)->end = mark;
    struct yml_token token = s->tokens.v[s->tokens.n - 1];
    memmove(&s->tokens.v[at + 1], &s->tokens.v[at], (s->tokens.n - 1 - at) * sizeof token);
    s->tokens.v[at] = token;
}

/* A token of one or three characters. */
static void add_indicator(struct yml_scanner *s, enum yml_token_kind kind, size_t length) {
    struct yml_mark start = s->mark;
    yml__advance(s, length);
    yml__add_token(s, kind, start);
}

void yml__set_text(struct yml_scanner *s, struct str *to, struct str text) {
    *to = text.n ? (struct str){arena_copy(&s->texts, text.p, text.n), text.n} : STR("");
}

/* --- simple keys --- */

static struct yml_simple_key *top_key(struct yml_scanner *s) {
    return &s->keys.v[s->keys.n - 1];
}

static int missing_colon(struct yml_scanner *s, const struct yml_simple_key *key, struct err *err) {
    struct yml_context context = {"while scanning a simple key", key->mark};
    return yml__fail(s, &context, "could not find expected ':'", err);
}

/* A key stands on one line and is not long: is this one out of reach? */
static int drop_stale_key(struct yml_scanner *s, struct yml_simple_key *key, struct err *err) {
    if (!key->possible ||
        (key->mark.line == s->mark.line && key->mark.index + LONGEST_SIMPLE_KEY >= s->mark.index))
        return 0;
    key->possible = false;
    return key->required ? missing_colon(s, key, err) : 0;
}

/* What might have been a key on this level is none. */
static int drop_key(struct yml_scanner *s, struct err *err) {
    struct yml_simple_key *key = top_key(s);
    if (key->possible && key->required)
        return missing_colon(s, key, err);
    key->possible = false;
    return 0;
}

/* The next token may be a key. */
static int save_key(struct yml_scanner *s, struct err *err) {
    if (!s->key_allowed)
        return 0;
    if (drop_key(s, err) < 0)
        return -1;
    *top_key(s) = (struct yml_simple_key){
        .possible = true,
        .required = !yml__in_flow(s) && s->indent == s->mark.column,
        .token = next_number(s),
        .mark = s->mark,
    };
    return 0;
}

/* --- indentation --- */

/* Opens a block collection in front of token `number`, unless one is open at this column. */
static void roll_indent(struct yml_scanner *s, int column, size_t number, enum yml_token_kind kind,
                        struct yml_mark mark) {
    if (yml__in_flow(s) || s->indent >= column)
        return;
    vec_push(&s->indents, s->indent);
    s->indent = column;
    insert_token(s, number, kind, mark);
}

/* Closes the block collections that are indented more than this. */
static void unroll_indent(struct yml_scanner *s, int column) {
    while (!yml__in_flow(s) && s->indent > column) {
        yml__add_token(s, YML_TOKEN_BLOCK_END, s->mark);
        s->indent = s->indents.v[--s->indents.n];
    }
}

/* --- tokens by their first character --- */

/* Everything that is open in block style ends here. */
static int end_blocks(struct yml_scanner *s, struct err *err) {
    unroll_indent(s, -1);
    if (drop_key(s, err) < 0)
        return -1;
    s->key_allowed = false;
    return 0;
}

static int fetch_stream_end(struct yml_scanner *s, struct err *err) {
    if (s->mark.column != 0) {
        s->mark.column = 0;
        s->mark.line++;
    }
    if (end_blocks(s, err) < 0)
        return -1;
    yml__add_token(s, YML_TOKEN_STREAM_END, s->mark);
    return 0;
}

static int fetch_document_mark(struct yml_scanner *s, struct err *err) {
    if (end_blocks(s, err) < 0)
        return -1;
    s->document_line = s->mark.line + 1;
    add_indicator(s, *s->p == '-' ? YML_TOKEN_DOCUMENT_START : YML_TOKEN_DOCUMENT_END, 3);
    return 0;
}

static int fetch_flow_start(struct yml_scanner *s, enum yml_token_kind kind, struct err *err) {
    if (save_key(s, err) < 0)
        return -1;
    add_indicator(s, kind, 1);
    vec_push(&s->keys, (struct yml_simple_key){0});
    s->key_allowed = true;
    return 0;
}

static int fetch_flow_end(struct yml_scanner *s, enum yml_token_kind kind, struct err *err) {
    if (drop_key(s, err) < 0)
        return -1;
    if (yml__in_flow(s))
        s->keys.n--;
    s->key_allowed = false;
    add_indicator(s, kind, 1);
    return 0;
}

static int fetch_flow_entry(struct yml_scanner *s, struct err *err) {
    if (drop_key(s, err) < 0)
        return -1;
    s->key_allowed = true;
    add_indicator(s, YML_TOKEN_FLOW_ENTRY, 1);
    return 0;
}

/* A '-', '?' or ':' that is no part of a simple key opens a collection if none is open here. */
static int open_block(struct yml_scanner *s, enum yml_token_kind kind, const char *problem,
                      struct err *err) {
    if (yml__in_flow(s))
        return 0;
    if (!s->key_allowed)
        return yml__fail(s, NULL, problem, err);
    roll_indent(s, s->mark.column, next_number(s), kind, s->mark);
    return 0;
}

/* In flow style the grammar refuses it, which knows more about the place. */
static int fetch_block_entry(struct yml_scanner *s, struct err *err) {
    if (open_block(s, YML_TOKEN_BLOCK_SEQUENCE,
                   "block sequence entries are not allowed in this context", err) < 0 ||
        drop_key(s, err) < 0)
        return -1;
    s->key_allowed = true;
    add_indicator(s, YML_TOKEN_BLOCK_ENTRY, 1);
    return 0;
}

static int fetch_key(struct yml_scanner *s, struct err *err) {
    if (open_block(s, YML_TOKEN_BLOCK_MAPPING, "mapping keys are not allowed in this context",
                   err) < 0 ||
        drop_key(s, err) < 0)
        return -1;
    s->key_allowed = !yml__in_flow(s);
    add_indicator(s, YML_TOKEN_KEY, 1);
    return 0;
}

static int fetch_value(struct yml_scanner *s, struct err *err) {
    struct yml_simple_key *key = top_key(s);
    if (drop_stale_key(s, key, err) < 0)
        return -1;
    if (key->possible) {
        insert_token(s, key->token, YML_TOKEN_KEY, key->mark);
        roll_indent(s, key->mark.column, key->token, YML_TOKEN_BLOCK_MAPPING, key->mark);
        key->possible = s->key_allowed = false;
    } else {
        if (open_block(s, YML_TOKEN_BLOCK_MAPPING, "mapping values are not allowed in this context",
                       err) < 0)
            return -1;
        s->key_allowed = !yml__in_flow(s);
    }
    add_indicator(s, YML_TOKEN_VALUE, 1);
    return 0;
}

/* A node that may be a key, and behind which no other can start. */
static int fetch_node(struct yml_scanner *s, int (*scan)(struct yml_scanner *, struct err *),
                      struct err *err) {
    if (save_key(s, err) < 0)
        return -1;
    s->key_allowed = false;
    return scan(s, err);
}

static int fetch_block_scalar(struct yml_scanner *s, struct err *err) {
    if (drop_key(s, err) < 0)
        return -1;
    s->key_allowed = true;
    return yml__scan_block(s, err);
}

static int fetch_directive(struct yml_scanner *s, struct err *err) {
    return end_blocks(s, err) < 0 ? -1 : yml__scan_directive(s, err);
}

bool yml__is_document_mark(const char *p) {
    return (*p == '-' || *p == '.') && p[1] == *p && p[2] == *p && yml__is_space(p + 3);
}

static int no_token(struct yml_scanner *s, struct err *err) {
    struct yml_context context = {"while scanning for the next token", s->mark};
    return yml__fail(s, &context, "found character that cannot start any token", err);
}

/* long: the table of YAML's indicators. */
static int fetch_token(struct yml_scanner *s, struct err *err) {
    bool flow = yml__in_flow(s);
    if (s->mark.column == 0 && yml__is_document_mark(s->p))
        return fetch_document_mark(s, err);
    switch (*s->p) {
    case '\0':
        return fetch_stream_end(s, err);
    case '%':
        return s->mark.column == 0 ? fetch_directive(s, err) : no_token(s, err);
    case '[':
        return fetch_flow_start(s, YML_TOKEN_FLOW_SEQUENCE, err);
    case '{':
        return fetch_flow_start(s, YML_TOKEN_FLOW_MAPPING, err);
    case ']':
        return fetch_flow_end(s, YML_TOKEN_FLOW_SEQUENCE_END, err);
    case '}':
        return fetch_flow_end(s, YML_TOKEN_FLOW_MAPPING_END, err);
    case ',':
        return fetch_flow_entry(s, err);
    case '-':
        if (yml__is_space(s->p + 1))
            return fetch_block_entry(s, err);
        return fetch_node(s, yml__scan_plain, err);
    case '?':
        if (flow || yml__is_space(s->p + 1))
            return fetch_key(s, err);
        return fetch_node(s, yml__scan_plain, err);
    case ':':
        if (flow || yml__is_space(s->p + 1))
            return fetch_value(s, err);
        return fetch_node(s, yml__scan_plain, err);
    case '*':
    case '&':
        return fetch_node(s, yml__scan_anchor, err);
    case '!':
        return fetch_node(s, yml__scan_tag, err);
    case '|':
    case '>':
        return flow ? no_token(s, err) : fetch_block_scalar(s, err);
    case '\'':
    case '"':
        return fetch_node(s, yml__scan_quoted, err);
    case '\t':
    case '@':
    case '`':
        return no_token(s, err);
    default:
        return fetch_node(s, yml__scan_plain, err);
    }
}

static int fetch_next(struct yml_scanner *s, struct err *err) {
    skip_to_token(s);
    if (s->input.failed && s->p == s->end)
        return input_error(s, err);
    unroll_indent(s, s->mark.column);
    if (fetch_token(s, err) < 0)
        return -1;
    const struct yml_token *last = &s->tokens.v[s->tokens.n - 1];
    s->texts_used += last->text.n || last->suffix.n;
    return s->input.failed && s->p == s->end ? input_error(s, err) : 0;
}

/* --- handing out --- */

/* Can the first token of the queue still become a key? */
static int head_may_be_key(struct yml_scanner *s, bool *may, struct err *err) {
    size_t level = s->tokens.v[s->head].level;
    *may = false;
    if (level >= s->keys.n || s->keys.v[level].token != s->taken)
        return 0;
    if (drop_stale_key(s, &s->keys.v[level], err) < 0)
        return -1;
    *may = s->keys.v[level].possible;
    return 0;
}

const struct yml_token *yml__scan_peek(struct yml_scanner *s, struct err *err) {
    bool waiting = s->head == s->tokens.n;
    if (!waiting && head_may_be_key(s, &waiting, err) < 0)
        return NULL;
    while (waiting)
        if (fetch_next(s, err) < 0 || head_may_be_key(s, &waiting, err) < 0)
            return NULL;
    return &s->tokens.v[s->head];
}

void yml__scan_take(struct yml_scanner *s) {
    const struct yml_token *token = &s->tokens.v[s->head++];
    s->taken++;
    s->texts_used -= token->text.n || token->suffix.n;
    size_t left = s->tokens.n - s->head;
    if (left <= s->head) {
        memmove(s->tokens.v, &s->tokens.v[s->head], left * sizeof *token);
        s->tokens.n = left;
        s->head = 0;
    }
}

void yml__scan_forget(struct yml_scanner *s) {
    if (!s->texts_used)
        arena_reset(&s->texts);
}
