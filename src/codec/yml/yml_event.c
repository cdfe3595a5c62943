/*
 * The grammar: tokens to events. A stack holds the collections that are open, each with the state
 * that goes on with it; the bottom is the stream. A state makes one event and says what comes next
 * by putting another state in its place, or a new collection above it.
 *
 * Follows go.yaml.in/yaml/v2, func yaml_parser_state_machine, func yaml_parser_parse_node.
 */
#include "base/limits.h"
#include "codec/yml/yml_scan_int.h"

static yml_state_fn begin_stream, begin_document, first_node, document_node, end_document;
static yml_state_fn block_entry, indentless_entry, block_key, block_value;
static yml_state_fn first_flow_entry, next_flow_entry, pair_key, pair_value, end_pair;
static yml_state_fn first_flow_key, next_flow_key, flow_value, no_flow_value;

void yml__parser_open(struct yml_parser *p, docs_read_fn *read, void *ctx) {
    *p = (struct yml_parser){0};
    yml__scan_open(&p->scan, read, ctx);
    vec_push(&p->states, (struct yml_state){.run = begin_stream});
}

void yml__parser_close(struct yml_parser *p) {
    yml__scan_close(&p->scan);
    vec_release(&p->states);
    vec_release(&p->handles);
    arena_release(&p->keep);
}

int yml__parser_next(struct yml_parser *p, struct yml_event *e, struct err *err) {
    yml__scan_forget(&p->scan);
    p->scan.input.bytes = 0;
    return p->states.v[p->states.n - 1].run(p, e, err);
}

/* --- what states are made of --- */

static const struct yml_token *peek(struct yml_parser *p, struct err *err) {
    return yml__scan_peek(&p->scan, err);
}

static void take(struct yml_parser *p) {
    yml__scan_take(&p->scan);
}

/* The token behind the one that was looked at. */
static const struct yml_token *take_and_peek(struct yml_parser *p, struct err *err) {
    take(p);
    return peek(p, err);
}

static void go_on(struct yml_parser *p, yml_state_fn *run) {
    p->states.v[p->states.n - 1].run = run;
}

#define KIND(kind) (1U << (YML_TOKEN_##kind))

/* Is the token of one of these kinds? */
static bool is_any(const struct yml_token *t, unsigned kinds) {
    return 1U << t->kind & kinds;
}

static int make_event(struct yml_event *e, enum yml_event_kind kind, const struct yml_token *t) {
    *e = (struct yml_event){.kind = kind, .start = t->start, .end = t->end.index};
    return 0;
}

static int make_empty(struct yml_event *e, struct yml_mark mark) {
    *e = (struct yml_event){
        .kind = YML_SCALAR, .plain = true, .start = mark, .end = mark.index, .text = STR("")};
    return 0;
}

static int fail_in_collection(struct yml_parser *p, const struct yml_token *t, const char *what,
                              const char *problem, struct err *err) {
    struct yml_context context = {what, p->states.v[p->states.n - 1].start};
    return yml__fail_at(&p->scan, t->start, &context, problem, err);
}

/* Ends the innermost collection; its last token stays if it belongs to another one. */
static int close_collection(struct yml_parser *p, struct yml_event *e, enum yml_event_kind kind,
                            struct err *err) {
    const struct yml_token *t = peek(p, err);
    p->states.n--;
    return make_event(e, kind, t);
}

/* --- nodes --- */

enum place { IN_FLOW, IN_BLOCK, IN_MAPPING }; /* a block mapping may hold indentless sequences */

static const struct opener {
    enum yml_token_kind token;
    enum place place; /* it may stand there, and in those that follow it above */
    enum yml_event_kind event;
    yml_state_fn *run;
} openers[] = {
    {YML_TOKEN_FLOW_SEQUENCE, IN_FLOW, YML_SEQUENCE_START, first_flow_entry},
    {YML_TOKEN_FLOW_MAPPING, IN_FLOW, YML_MAPPING_START, first_flow_key},
    {YML_TOKEN_BLOCK_SEQUENCE, IN_BLOCK, YML_SEQUENCE_START, block_entry},
    {YML_TOKEN_BLOCK_MAPPING, IN_BLOCK, YML_MAPPING_START, block_key},
    {YML_TOKEN_BLOCK_ENTRY, IN_MAPPING, YML_SEQUENCE_START, indentless_entry},
};

static const struct opener *find_opener(enum yml_token_kind token, enum place place) {
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        if (openers[i].token == token && openers[i].place <= place)
            return &openers[i];
    return NULL;
}

/* Finds what a handle stands for. */
static bool find_prefix(const struct yml_parser *p, struct str handle, struct str *out) {
    static const struct yml_tag_directive usual[] = {
        {STR_INIT("!"), STR_INIT("!")},
        {STR_INIT("!!"), STR_INIT("tag:yaml.org,2002:")},
        {STR_INIT(""), STR_INIT("")}, /* the tag is written in full */
    };
    for (size_t i = 0; i < p->handles.n; i++)
        if (str_eq(p->handles.v[i].handle, handle)) {
            *out = p->handles.v[i].prefix;
            return true;
        }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (str_eq(usual[i].handle, handle)) {
            *out = usual[i].prefix;
            return true;
        }
    return false;
}

static int resolve_tag(struct yml_parser *p, const struct yml_token *tag, struct yml_event *e,
                       struct err *err) {
    struct str prefix;
    struct yml_context context = {"while parsing a node", e->start};
    if (!find_prefix(p, tag->text, &prefix))
        return yml__fail_at(&p->scan, tag->start, &context, "found undefined tag handle", err);
    e->tag = arena_printf(&p->scan.texts, "%.*s%.*s", STR_ARG(prefix), STR_ARG(tag->suffix));
    return 0;
}

/* Reads a tag and an anchor, in any order, and each at most once. */
static int read_properties(struct yml_parser *p, struct yml_event *e, struct err *err) {
    struct yml_token tag = {0};
    const struct yml_token *t = peek(p, err);
    if (t)
        *e = (struct yml_event){.start = t->start, .end = t->start.index};
    for (; t; t = take_and_peek(p, err)) {
        if (t->kind == YML_TOKEN_ANCHOR && !e->anchor.p)
            e->anchor = t->text;
        else if (t->kind == YML_TOKEN_TAG && !tag.suffix.p)
            tag = *t;
        else
            break;
        e->end = t->end.index;
    }
    if (!t)
        return -1;
    return tag.suffix.p ? resolve_tag(p, &tag, e, err) : 0;
}

static int no_content(struct yml_parser *p, const struct yml_token *t, struct yml_mark start,
                      enum place place, struct err *err) {
    struct yml_context context = {
        place == IN_FLOW ? "while parsing a flow node" : "while parsing a block node", start};
    return yml__fail_at(&p->scan, t->start, &context, "did not find expected node content", err);
}

static int open_collection(struct yml_parser *p, struct yml_event *e, const struct yml_token *t,
                           const struct opener *opener) {
    e->kind = opener->event;
    e->end = t->end.index;
    vec_push(&p->states, (struct yml_state){opener->run, t->start});
    if (t->kind != YML_TOKEN_BLOCK_ENTRY) /* which belongs to the first entry */
        take(p);
    return 0;
}

/* Makes the event with which a node begins, or that is all of it. */
static int node(struct yml_parser *p, struct yml_event *e, enum place place, struct err *err) {
    if (read_properties(p, e, err) < 0)
        return -1;
    const struct yml_token *t = peek(p, err);
    const struct opener *opener = find_opener(t->kind, place);
    bool bare = !e->tag.p && !e->anchor.p;
    if (opener)
        return open_collection(p, e, t, opener);
    if (t->kind == YML_TOKEN_SCALAR) {
        e->kind = YML_SCALAR;
        e->text = t->text;
        e->plain = e->tag.p ? str_is(e->tag, "!") : t->plain;
        e->end = t->end.index;
        take(p);
        return 0;
    }
    if (t->kind == YML_TOKEN_ALIAS && bare) {
        make_event(e, YML_ALIAS, t);
        e->anchor = t->text;
        take(p);
        return 0;
    }
    if (bare)
        return no_content(p, t, e->start, place, err);
    e->kind = YML_SCALAR;
    e->text = STR("");
    e->plain = !e->tag.p;
    return 0;
}

/* Takes an indicator and makes what follows it: a node, or nothing if one of these comes next. */
static int node_behind(struct yml_parser *p, struct yml_event *e, enum place place, unsigned ends,
                       struct err *err) {
    const struct yml_token *t = peek(p, err);
    struct yml_mark mark = t->end;
    t = take_and_peek(p, err);
    if (!t)
        return -1;
    if (is_any(t, ends))
        return make_empty(e, place == IN_FLOW ? t->start : mark);
    return node(p, e, place, err);
}

/* --- documents --- */

static int add_handle(struct yml_parser *p, const struct yml_token *t, struct err *err) {
    for (size_t i = 0; i < p->handles.n; i++)
        if (str_eq(p->handles.v[i].handle, t->text))
            return yml__fail_at(&p->scan, t->start, NULL, "found duplicate %TAG directive", err);
    if (p->handles.n == LIMIT_YAML_DIRECTIVES)
        return yml__fail_at(&p->scan, t->start, NULL, "too many directives", err);
    vec_push(&p->handles, (struct yml_tag_directive){arena_str(&p->keep, t->text),
                                                     arena_str(&p->keep, t->suffix)});
    return 0;
}

static int check_version(struct yml_parser *p, const struct yml_token *t, bool *seen,
                         struct err *err) {
    if (*seen)
        return yml__fail_at(&p->scan, t->start, NULL, "found duplicate %YAML directive", err);
    *seen = true;
    if (t->major != 1 || t->minor != 1)
        return yml__fail_at(&p->scan, t->start, NULL, "found incompatible YAML document", err);
    return 0;
}

static int read_directives(struct yml_parser *p, struct err *err) {
    bool has_version = false;
    const struct yml_token *t = peek(p, err);
    for (; t && is_any(t, KIND(VERSION) | KIND(TAG_DIRECTIVE)); t = take_and_peek(p, err)) {
        int rc = t->kind == YML_TOKEN_VERSION ? check_version(p, t, &has_version, err)
                                              : add_handle(p, t, err);
        if (rc < 0)
            return -1;
    }
    return t ? 0 : -1;
}

static const unsigned document_bounds =
    KIND(VERSION) | KIND(TAG_DIRECTIVE) | KIND(DOCUMENT_START) | KIND(STREAM_END);

/* Only the first document may begin without "---". */
static int begin_stream(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (is_any(t, document_bounds))
        return begin_document(p, e, err);
    go_on(p, first_node);
    return make_event(e, YML_DOCUMENT_START, t);
}

static int begin_document(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    while (t && t->kind == YML_TOKEN_DOCUMENT_END)
        t = take_and_peek(p, err);
    if (!t)
        return -1;
    if (t->kind == YML_TOKEN_STREAM_END)
        return make_event(e, YML_STREAM_END, t);
    make_event(e, YML_DOCUMENT_START, t);
    if (read_directives(p, err) < 0)
        return -1;
    t = peek(p, err);
    if (t->kind != YML_TOKEN_DOCUMENT_START)
        return yml__fail_at(&p->scan, t->start, NULL, "did not find expected <document start>",
                            err);
    e->end = t->end.index;
    take(p);
    go_on(p, document_node);
    return 0;
}

static int first_node(struct yml_parser *p, struct yml_event *e, struct err *err) {
    go_on(p, end_document);
    return node(p, e, IN_BLOCK, err);
}

static int document_node(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (!is_any(t, document_bounds | KIND(DOCUMENT_END)))
        return first_node(p, e, err);
    go_on(p, end_document);
    return make_empty(e, t->start);
}

static int end_document(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    make_event(e, YML_DOCUMENT_END, t);
    if (t->kind == YML_TOKEN_DOCUMENT_END)
        take(p);
    vec_clear(&p->handles);
    arena_reset(&p->keep);
    go_on(p, begin_document);
    return 0;
}

/* --- block collections --- */

static int block_entry(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (t->kind == YML_TOKEN_BLOCK_ENTRY)
        return node_behind(p, e, IN_BLOCK, KIND(BLOCK_ENTRY) | KIND(BLOCK_END), err);
    if (t->kind != YML_TOKEN_BLOCK_END)
        return fail_in_collection(p, t, "while parsing a block collection",
                                  "did not find expected '-' indicator", err);
    close_collection(p, e, YML_SEQUENCE_END, err);
    take(p);
    return 0;
}

/* A sequence whose '-' stand below the key that it is the value of. */
static int indentless_entry(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (t->kind == YML_TOKEN_BLOCK_ENTRY)
        return node_behind(p, e, IN_BLOCK,
                           KIND(BLOCK_ENTRY) | KIND(KEY) | KIND(VALUE) | KIND(BLOCK_END), err);
    return close_collection(p, e, YML_SEQUENCE_END, err);
}

static const unsigned block_ends = KIND(KEY) | KIND(VALUE) | KIND(BLOCK_END);

static int block_key(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (t->kind == YML_TOKEN_KEY) {
        go_on(p, block_value);
        return node_behind(p, e, IN_MAPPING, block_ends, err);
    }
    if (t->kind != YML_TOKEN_BLOCK_END)
        return fail_in_collection(p, t, "while parsing a block mapping",
                                  "did not find expected key", err);
    close_collection(p, e, YML_MAPPING_END, err);
    take(p);
    return 0;
}

static int block_value(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    go_on(p, block_key);
    if (t->kind != YML_TOKEN_VALUE)
        return make_empty(e, t->start);
    return node_behind(p, e, IN_MAPPING, block_ends, err);
}

/* --- flow sequences --- */

static int flow_entry(struct yml_parser *p, struct yml_event *e, const struct yml_token *t,
                      struct err *err) {
    go_on(p, next_flow_entry);
    if (t->kind == YML_TOKEN_FLOW_SEQUENCE_END) {
        close_collection(p, e, YML_SEQUENCE_END, err);
        take(p);
        return 0;
    }
    if (t->kind != YML_TOKEN_KEY)
        return node(p, e, IN_FLOW, err);
    vec_push(&p->states, (struct yml_state){pair_key, t->start});
    return make_event(e, YML_MAPPING_START, t);
}

static int first_flow_entry(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    return t ? flow_entry(p, e, t, err) : -1;
}

static int next_flow_entry(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (!is_any(t, KIND(FLOW_ENTRY) | KIND(FLOW_SEQUENCE_END)))
        return fail_in_collection(p, t, "while parsing a flow sequence",
                                  "did not find expected ',' or ']'", err);
    if (t->kind == YML_TOKEN_FLOW_ENTRY)
        t = take_and_peek(p, err);
    return t ? flow_entry(p, e, t, err) : -1;
}

/* A key and its value in a flow sequence are a mapping of their own. */
static const unsigned pair_ends = KIND(FLOW_ENTRY) | KIND(FLOW_SEQUENCE_END);

static int pair_key(struct yml_parser *p, struct yml_event *e, struct err *err) {
    go_on(p, pair_value);
    return node_behind(p, e, IN_FLOW, pair_ends | KIND(VALUE), err);
}

static int pair_value(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    go_on(p, end_pair);
    if (t->kind != YML_TOKEN_VALUE)
        return make_empty(e, t->start);
    return node_behind(p, e, IN_FLOW, pair_ends, err);
}

static int end_pair(struct yml_parser *p, struct yml_event *e, struct err *err) {
    return peek(p, err) ? close_collection(p, e, YML_MAPPING_END, err) : -1;
}

/* --- flow mappings --- */

static const unsigned flow_ends = KIND(FLOW_ENTRY) | KIND(FLOW_MAPPING_END);

static int flow_key(struct yml_parser *p, struct yml_event *e, const struct yml_token *t,
                    struct err *err) {
    if (t->kind == YML_TOKEN_FLOW_MAPPING_END) {
        close_collection(p, e, YML_MAPPING_END, err);
        take(p);
        return 0;
    }
    go_on(p, t->kind == YML_TOKEN_KEY ? flow_value : no_flow_value);
    if (t->kind == YML_TOKEN_KEY)
        return node_behind(p, e, IN_FLOW, flow_ends | KIND(VALUE), err);
    return node(p, e, IN_FLOW, err);
}

static int first_flow_key(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    return t ? flow_key(p, e, t, err) : -1;
}

static int next_flow_key(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    if (!is_any(t, flow_ends))
        return fail_in_collection(p, t, "while parsing a flow mapping",
                                  "did not find expected ',' or '}'", err);
    if (t->kind == YML_TOKEN_FLOW_ENTRY)
        t = take_and_peek(p, err);
    return t ? flow_key(p, e, t, err) : -1;
}

static int flow_value(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    go_on(p, next_flow_key);
    if (t->kind != YML_TOKEN_VALUE)
        return make_empty(e, t->start);
    return node_behind(p, e, IN_FLOW, flow_ends, err);
}

/* The key stood without '?' and ':'. */
static int no_flow_value(struct yml_parser *p, struct yml_event *e, struct err *err) {
    const struct yml_token *t = peek(p, err);
    if (!t)
        return -1;
    go_on(p, next_flow_key);
    return make_empty(e, t->start);
}
