/*
 * HTTP/1.1 requests, parsed by llhttp and by what it leaves to others: a head must be one block of
 * bytes, each line of which ends with CRLF; lines are not folded, names not empty, the request line
 * has single spaces, and the length of a body is said once and in one way.
 */
#ifndef NET_HTTP1_INT_H
#define NET_HTTP1_INT_H

#include "net/request_int.h"

/* What a request says about how it, and the connection after it, is to be read. */
struct net__http1_frame {
    bool has_body, is_chunked;
    uint64_t length; /* of a body that is not chunked */
    bool keeps_alive;
    bool is_old; /* HTTP/1.0 */
    bool expects_continue;
};

struct net__http1_parser;

/* A parser for requests of at most this many headers. take_body(arg, bytes) is given the bytes of
 * bodies; false stops the parser. */
struct net__http1_parser *net__http1_parser_new(size_t most_headers,
                                                bool (*take_body)(void *arg, struct str bytes),
                                                void *arg);
void net__http1_parser_free(struct net__http1_parser *parser); /* NULL is allowed */

/* Has the request that is parsed ended? */
bool net__http1_is_complete(const struct net__http1_parser *parser);

/* Where the head of a request ends in these bytes: behind the first empty line, of which none lies
 * in the first `seen` bytes. STR_NONE when there is none yet. */
size_t net__http1_find_head_end(struct str bytes, size_t seen);

/* Parses a head, which ends with an empty line. Returns it, or NULL and sets *status to that of the
 * answer. The parser goes on with the body. */
struct net__head *net__http1_parse_head(struct net__http1_parser *parser, struct net__peer *peer,
                                        struct str bytes, struct net__http1_frame *frame,
                                        int *status);

/* Parses bytes of the body, which take_body is given, and returns how many; fewer than there are
 * when the request ends before, or when it was stopped. -1: the request is malformed. */
int64_t net__http1_parse_body(struct net__http1_parser *parser, struct str bytes);

/* The text behind a status in an answer; that of Go's net/http. */
struct str net__status_text(int status);

#endif
