/*
 * From bytes to events: yml_input.c checks bytes and knows their places; yml_scan.c cuts them into
 * tokens, with the help of yml_text.c (scalars) and yml_name.c (anchors, tags, directives);
 * yml_event.c is the grammar over the tokens. Nothing here knows what a scalar means.
 */
#ifndef CODEC_YML_YML_SCAN_INT_H
#define CODEC_YML_YML_SCAN_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "codec/docs.h"

/* --- yml_input.c: bytes --- */

enum { YML_SEPARATOR = 3, YML_NO_SEPARATOR = 4 }; /* of input.dashes */

struct yml_input {
    docs_read_fn *read;
    void *ctx;
    bool stream;           /* "---" lines are kubectl's: only a comment may follow on them */
    bool failed;           /* err says why there are no more bytes */
    struct err err;        /* with its place */
    bool started, has_bom; /* the first bytes were seen; they were a byte order mark */
    char held[4];          /* the beginning of a character whose rest was not read yet */
    size_t held_n;
    uint32_t line, column; /* of the next byte */
    unsigned dashes;       /* '-' seen at the start of this line, or one of the above */
    size_t bytes;          /* since the last event, which bounds the memory for one */
};

/* Reads between 1 and `size` bytes (at least 5), of whole characters that YAML allows; 0 at the
 * end, or when `failed` is set. */
size_t yml__input_read(struct yml_input *in, char *to, size_t size);

/* --- yml_scan.c: tokens --- */

/* A place, counted from 0 in characters. */
struct yml_mark {
    size_t index;
    uint32_t line;
    int column;
};

/* What was being read when an error was found, and where it began; `what` may be NULL. */
struct yml_context {
    const char *what;
    struct yml_mark from;
};

enum yml_token_kind {
    YML_TOKEN_STREAM_END,
    YML_TOKEN_VERSION, /* %YAML */
    YML_TOKEN_TAG_DIRECTIVE,
    YML_TOKEN_DOCUMENT_START,
    YML_TOKEN_DOCUMENT_END,
    YML_TOKEN_BLOCK_SEQUENCE, /* the start of one, and of the other collections */
    YML_TOKEN_BLOCK_MAPPING,
    YML_TOKEN_BLOCK_END,
    YML_TOKEN_FLOW_SEQUENCE,
    YML_TOKEN_FLOW_SEQUENCE_END,
    YML_TOKEN_FLOW_MAPPING,
    YML_TOKEN_FLOW_MAPPING_END,
    YML_TOKEN_BLOCK_ENTRY, /* - */
    YML_TOKEN_FLOW_ENTRY,  /* , */
    YML_TOKEN_KEY,         /* ?, or in front of a simple key */
    YML_TOKEN_VALUE,       /* : */
    YML_TOKEN_ALIAS,
    YML_TOKEN_ANCHOR,
    YML_TOKEN_TAG,
    YML_TOKEN_SCALAR,
};

struct yml_token {
    enum yml_token_kind kind;
    bool plain;                 /* a scalar without quotes, and no block */
    unsigned char major, minor; /* of %YAML */
    size_t level;               /* of flow collections around it */
    struct yml_mark start, end;
    struct str text;   /* of a scalar; name of an anchor or alias; handle of a tag */
    struct str suffix; /* of a tag; the prefix that %TAG gives to a handle */
};

/* A token that becomes a key if a ':' follows: at most one on each level of flow collections. */
struct yml_simple_key {
    bool possible;
    bool required; /* it stands where nothing but a key can */
    size_t token;  /* its number in the stream */
    struct yml_mark mark;
};

/* "\U" with its eight digits is the most that is looked at at once. */
enum { YML_LOOKAHEAD = 10, YML_WINDOW = 16384 };

struct yml_scanner {
    struct yml_input input;
    uint32_t line, column; /* of the first byte in the whole stream, 1-based */
    char *window;          /* [p, end) are the bytes to come; NULs follow, which no text holds */
    const char *p, *end;
    bool at_end; /* the input has no more bytes than those */
    struct yml_mark mark;

    VEC(struct yml_token) tokens; /* those from `head` on were not taken yet */
    size_t head;
    size_t taken;                    /* how many were, in the whole stream */
    VEC(struct yml_simple_key) keys; /* by level of flow collections */
    VEC(int) indents;                /* of the block collections around the innermost one */
    int indent;                      /* of that; -1 outside of all */
    bool key_allowed;                /* a simple key may start here */
    uint32_t document_line;          /* the one behind the last "---" */

    bool go_words; /* errors are told as go-yaml tells them */

    struct buf text;    /* of the scalar that is being read */
    struct arena texts; /* of tokens and of the current event */
    size_t texts_used;  /* tokens in the queue that have texts there */
};

/* A scanner over bytes, of which the first is at 1:1; read and ctx are stored. */
void yml__scan_open(struct yml_scanner *s, docs_read_fn *read, void *ctx);

/* Frees what the scanner owns. */
void yml__scan_close(struct yml_scanner *s);

/* The next token, which stays there; valid until the next call. NULL with err filled on error. */
const struct yml_token *yml__scan_peek(struct yml_scanner *s, struct err *err);

/* Takes the token that was looked at. Its texts live until yml__scan_forget. */
void yml__scan_take(struct yml_scanner *s);

/* The texts of all tokens that were taken are not needed any more. */
void yml__scan_forget(struct yml_scanner *s);

/* Where a mark is in the whole stream, 1-based. */
void yml__scan_place(const struct yml_scanner *s, struct yml_mark mark, uint32_t *line,
                     uint32_t *column);

/* Sets an error at a mark; always returns -1. */
int yml__fail_at(const struct yml_scanner *s, struct yml_mark mark,
                 const struct yml_context *context, const char *problem, struct err *err);

/* Sets an error where the scanner is, or the input's when that ends the text; returns -1. */
int yml__fail(const struct yml_scanner *s, const struct yml_context *context, const char *problem,
              struct err *err);

/* Appends a token from `start` to where the scanner is; borrowed until the next token. */
struct yml_token *yml__add_token(struct yml_scanner *s, enum yml_token_kind kind,
                                 struct yml_mark start);

/* Gives a token a copy of a text; an empty one is not absent. */
void yml__set_text(struct yml_scanner *s, struct str *to, struct str text);

/* yml__fill when bytes are missing. */
void yml__refill(struct yml_scanner *s);

/* Makes sure that YML_LOOKAHEAD bytes follow, or the end of the text and NULs. */
static inline void yml__fill(struct yml_scanner *s) {
    if (s->end - s->p < YML_LOOKAHEAD && !s->at_end)
        yml__refill(s);
}

static inline bool yml__in_flow(const struct yml_scanner *s) {
    return s->keys.n > 1;
}

static inline bool yml__is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Bytes of the line break at p (CR LF, CR, LF, NEL, LS or PS), or 0. */
static inline unsigned yml__break_length(const char *p) {
    switch ((unsigned char)p[0]) {
    case '\n':
        return 1;
    case '\r':
        return p[1] == '\n' ? 2 : 1;
    case 0xC2:
        return p[1] == '\x85' ? 2 : 0;
    case 0xE2:
        return p[1] == '\x80' && (p[2] == '\xA8' || p[2] == '\xA9') ? 3 : 0;
    default:
        return 0;
    }
}

/* A break, or the end of the text? */
static inline bool yml__is_line_end(const char *p) {
    return *p == '\0' || yml__break_length(p);
}

/* White space of any kind, or the end of the text? */
static inline bool yml__is_space(const char *p) {
    return yml__is_blank(*p) || yml__is_line_end(p);
}

/* Moves over n bytes that are ASCII and no line breaks. */
static inline void yml__advance(struct yml_scanner *s, size_t n) {
    s->p += n;
    s->mark.index += n;
    s->mark.column += (int)n;
}

/* Moves over one character that is no line break. */
static inline void yml__advance_char(struct yml_scanner *s) {
    do
        s->p++;
    while (((unsigned char)*s->p & 0xC0) == 0x80);
    s->mark.index++;
    s->mark.column++;
}

/* Moves over the line break that stands here, if any. */
void yml__skip_break(struct yml_scanner *s);

/* Moves over blanks. */
void yml__skip_blanks(struct yml_scanner *s);

/* Moves over blanks, a comment and the break behind them; -1 when the line holds more. */
int yml__skip_rest_of_line(struct yml_scanner *s, const struct yml_context *context,
                           struct err *err);

/* Stands "---" or "..." with white space behind it at p? */
bool yml__is_document_mark(const char *p);

/* --- yml_text.c: scalars; each adds its token --- */

int yml__scan_plain(struct yml_scanner *s, struct err *err);  /* without quotes */
int yml__scan_quoted(struct yml_scanner *s, struct err *err); /* in ' or " */
int yml__scan_block(struct yml_scanner *s, struct err *err);  /* behind | or > */

/* --- yml_name.c: each adds its token --- */

int yml__scan_anchor(struct yml_scanner *s, struct err *err);    /* behind & or * */
int yml__scan_tag(struct yml_scanner *s, struct err *err);       /* behind ! */
int yml__scan_directive(struct yml_scanner *s, struct err *err); /* behind % */

/* --- yml_event.c: events --- */

enum yml_event_kind {
    YML_STREAM_END,
    YML_DOCUMENT_START,
    YML_DOCUMENT_END,
    YML_ALIAS,
    YML_SCALAR,
    YML_SEQUENCE_START,
    YML_SEQUENCE_END,
    YML_MAPPING_START,
    YML_MAPPING_END,
};

struct yml_event {
    enum yml_event_kind kind;
    bool plain; /* a scalar whose meaning is to be guessed from its text */
    struct yml_mark start;
    size_t end;        /* the index of the character behind it */
    struct str anchor; /* absent when there is none; of an alias: its name */
    struct str tag;    /* in full, or absent */
    struct str text;   /* of a scalar */
};

struct yml_parser;

/* A state of the grammar: makes the next event. */
typedef int yml_state_fn(struct yml_parser *p, struct yml_event *e, struct err *err);

/* A collection that is open, or the stream. */
struct yml_state {
    yml_state_fn *run;
    struct yml_mark start;
};

struct yml_tag_directive {
    struct str handle, prefix;
};

struct yml_parser {
    struct yml_scanner scan;
    VEC(struct yml_state) states;          /* the innermost one last */
    VEC(struct yml_tag_directive) handles; /* of the document */
    struct arena keep;                     /* their texts */
};

/* A parser over bytes, of which the first is at 1:1; read and ctx are stored. */
void yml__parser_open(struct yml_parser *p, docs_read_fn *read, void *ctx);

/* Frees what the parser owns. */
void yml__parser_close(struct yml_parser *p);

/* The next event; its texts live until the next call. Not to be called behind YML_STREAM_END. */
int yml__parser_next(struct yml_parser *p, struct yml_event *e, struct err *err);

#endif
