/* Requests of HTTP/1.1: llhttp, in its strict mode, and the checks that it does not make. */
#include "net/http/http1_int.h"

#include <assert.h>
#include <llhttp.h>

#include "base/alloc.h"

struct net__http1_parser {
    llhttp_t llhttp;
    struct net__head *head; /* while it is parsed */
    size_t most_headers;
    bool value_is_done; /* the last header has its value */
    int status;         /* why parsing was stopped: that of the answer */
    bool is_complete;   /* the request has ended */
    bool (*take_body)(void *arg, struct str bytes);
    void *arg;
};

/* Stops the parser; the request is answered with this status. */
static int refuse(llhttp_t *llhttp, int status) {
    struct net__http1_parser *parser = llhttp->data;
    parser->status = status;
    return HPE_USER;
}

static int on_method(llhttp_t *llhttp, const char *at, size_t n) {
    struct net__http1_parser *parser = llhttp->data;
    parser->head->request.method = (struct str){at, n};
    return 0;
}

static int on_url(llhttp_t *llhttp, const char *at, size_t n) {
    struct net__http1_parser *parser = llhttp->data;
    parser->head->request.path = (struct str){at, n}; /* the whole target, to be split */
    return 0;
}

/* Trailers are refused: none of the clients that we know sends them. */
static int on_field(llhttp_t *llhttp, const char *at, size_t n) {
    struct net__http1_parser *parser = llhttp->data;
    if (!parser->head || n == 0)
        return refuse(llhttp, 400);
    struct net_headers *headers = &parser->head->request.headers;
    if (headers->n == parser->most_headers)
        return refuse(llhttp, 431);
    parser->head->headers[headers->n++] = (struct net_header){.name = {at, n}, .value = {at, 0}};
    parser->value_is_done = false;
    return 0;
}

/* A value that goes on is one that was folded, as the head is in one piece. */
static int on_value(llhttp_t *llhttp, const char *at, size_t n) {
    struct net__http1_parser *parser = llhttp->data;
    if (!parser->head || parser->value_is_done)
        return refuse(llhttp, 400);
    parser->head->headers[parser->head->request.headers.n - 1].value =
        str_trim((struct str){at, n});
    parser->value_is_done = true;
    return 0;
}

static int on_chunk_extension(llhttp_t *llhttp, const char *at, size_t n) {
    (void)at;
    (void)n;
    return refuse(llhttp, 400); /* nobody means anything by them, and they have no bound */
}

static int on_headers_complete(llhttp_t *llhttp) {
    llhttp->upgrade = 0; /* whether to change the protocol is decided by the handler */
    return 0;
}

static int on_body(llhttp_t *llhttp, const char *at, size_t n) {
    struct net__http1_parser *parser = llhttp->data;
    return parser->take_body(parser->arg, (struct str){at, n}) ? 0 : refuse(llhttp, 413);
}

static int on_complete(llhttp_t *llhttp) {
    struct net__http1_parser *parser = llhttp->data;
    parser->is_complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_method = on_method,
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_chunk_extension_name = on_chunk_extension,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

struct net__http1_parser *net__http1_parser_new(size_t most_headers,
                                                bool (*take_body)(void *arg, struct str bytes),
                                                void *arg) {
    struct net__http1_parser *parser = xcalloc(1, sizeof *parser);
    parser->most_headers = most_headers;
    parser->take_body = take_body;
    parser->arg = arg;
    return parser;
}

void net__http1_parser_free(struct net__http1_parser *parser) {
    free(parser);
}

bool net__http1_is_complete(const struct net__http1_parser *parser) {
    return parser->is_complete;
}

size_t net__http1_find_head_end(struct str bytes, size_t seen) {
    size_t from = seen > 3 ? seen - 3 : 0;
    size_t at = str_find(str_sub(bytes, from, bytes.n), STR("\r\n\r\n"));
    return at == STR_NONE ? STR_NONE : from + at + 4;
}

/* Is the line exactly "METHOD target HTTP/1.x"? Anything else that llhttp takes is laxer. */
static bool request_line_is_exact(const struct net_request *request, struct str bytes) {
    struct str line = str_sub(bytes, 0, str_find(bytes, STR("\r\n")));
    return line.n == request->method.n + 1 + request->path.n + 1 + strlen("HTTP/1.1") &&
           str_starts(str_sub(line, line.n - 8, line.n), STR("HTTP/1."));
}

static size_t count_headers(struct net_headers headers, struct str name) {
    size_t count = 0;
    for (size_t i = 0; i < headers.n; i++)
        count += net__name_eq(headers.v[i].name, name);
    return count;
}

/* What the head says about its framing; 0, or the status of the answer when that is nonsense. */
static int read_frame(const struct net__http1_parser *parser, struct net_request *request,
                      struct net__http1_frame *frame) {
    struct net_headers headers = request->headers;
    struct str coding = net_headers_find(headers, STR("transfer-encoding"));
    struct str expect = net_headers_find(headers, STR("expect"));
    *frame = (struct net__http1_frame){
        .is_chunked = coding.p != NULL,
        .length = coding.p ? 0 : parser->llhttp.content_length,
        .has_body = !parser->is_complete,
        .keeps_alive = llhttp_should_keep_alive(&parser->llhttp),
        .is_old = parser->llhttp.http_minor == 0,
        .expects_continue = expect.p != NULL,
    };
    if (coding.p && frame->is_old)
        return 400;
    if (coding.p && !net__name_eq(coding, STR("chunked")))
        return 501;
    if (expect.p && !net__name_eq(expect, STR("100-continue")))
        return 417;
    size_t hosts = count_headers(headers, STR("host"));
    return hosts == 1 || (hosts == 0 && frame->is_old) ? 0 : 400;
}

/* The status that answers an error of the parser. */
static int status_of(const struct net__http1_parser *parser, llhttp_errno_t error) {
    if (parser->status)
        return parser->status;
    if (error == HPE_INVALID_VERSION)
        return 505;
    return error == HPE_INVALID_METHOD ? 501 : 400;
}

static int check_head(struct net__http1_parser *parser, struct str bytes,
                      struct net__http1_frame *frame) {
    struct net_request *request = &parser->head->request;
    if (parser->llhttp.method == HTTP_CONNECT)
        return 501;
    if (!request_line_is_exact(request, bytes))
        return 400;
    request->authority = net_headers_find(request->headers, STR("host"));
    if (!net__split_target(request->path, &request->path, &request->query))
        return 400;
    return read_frame(parser, request, frame);
}

/* How many lines the head has; 0 if one of them ends in another way than "\r\n", by which its end
 * was found: llhttp takes a line feed alone for the end of a line, and may see another end. */
static size_t count_lines(struct str bytes) {
    size_t lines = 0;
    for (const char *p = bytes.p, *end = bytes.p + bytes.n;
         (p = memchr(p, '\n', (size_t)(end - p))); p++) {
        if (p == bytes.p || p[-1] != '\r')
            return 0;
        lines++;
    }
    return lines;
}

struct net__head *net__http1_parse_head(struct net__http1_parser *parser, struct net__peer *peer,
                                        struct str bytes, struct net__http1_frame *frame,
                                        int *status) {
    char *copy;
    size_t lines = count_lines(bytes); /* the request line and the empty one among them */
    *status = 400;
    if (!lines)
        return NULL;
    size_t most = lines - 2 < parser->most_headers ? lines - 2 : parser->most_headers;
    parser->head = net__head_new(peer, most, bytes.n, &copy);
    memcpy(copy, bytes.p, bytes.n);
    parser->status = 0;
    parser->is_complete = false;
    llhttp_init(&parser->llhttp, HTTP_REQUEST, &settings);
    parser->llhttp.data = parser;
    llhttp_errno_t error = llhttp_execute(&parser->llhttp, copy, bytes.n);
    if (error == HPE_OK || error == HPE_PAUSED)
        *status = check_head(parser, (struct str){copy, bytes.n}, frame);
    else
        *status = status_of(parser, error);
    struct net__head *head = parser->head;
    parser->head = NULL;
    if (*status == 0)
        return head;
    net__head_free(head);
    return NULL;
}

int64_t net__http1_parse_body(struct net__http1_parser *parser, struct str bytes) {
    assert(!parser->is_complete);
    llhttp_errno_t error = llhttp_execute(&parser->llhttp, bytes.p, bytes.n);
    if (error == HPE_OK)
        return (int64_t)bytes.n;
    if (error == HPE_PAUSED || parser->status == 413)
        return llhttp_get_error_pos(&parser->llhttp) - bytes.p;
    return -1;
}

static const struct {
    int status;
    struct str text;
} texts[] = {
    {100, STR_INIT("Continue")},
    {101, STR_INIT("Switching Protocols")},
    {200, STR_INIT("OK")},
    {201, STR_INIT("Created")},
    {202, STR_INIT("Accepted")},
    {204, STR_INIT("No Content")},
    {301, STR_INIT("Moved Permanently")},
    {302, STR_INIT("Found")},
    {304, STR_INIT("Not Modified")},
    {307, STR_INIT("Temporary Redirect")},
    {308, STR_INIT("Permanent Redirect")},
    {400, STR_INIT("Bad Request")},
    {401, STR_INIT("Unauthorized")},
    {403, STR_INIT("Forbidden")},
    {404, STR_INIT("Not Found")},
    {405, STR_INIT("Method Not Allowed")},
    {406, STR_INIT("Not Acceptable")},
    {408, STR_INIT("Request Timeout")},
    {409, STR_INIT("Conflict")},
    {410, STR_INIT("Gone")},
    {412, STR_INIT("Precondition Failed")},
    {413, STR_INIT("Request Entity Too Large")},
    {415, STR_INIT("Unsupported Media Type")},
    {417, STR_INIT("Expectation Failed")},
    {422, STR_INIT("Unprocessable Entity")},
    {429, STR_INIT("Too Many Requests")},
    {431, STR_INIT("Request Header Fields Too Large")},
    {500, STR_INIT("Internal Server Error")},
    {501, STR_INIT("Not Implemented")},
    {502, STR_INIT("Bad Gateway")},
    {503, STR_INIT("Service Unavailable")},
    {504, STR_INIT("Gateway Timeout")},
    {505, STR_INIT("HTTP Version Not Supported")},
};

struct str net__status_text(int status) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].status == status)
            return texts[i].text;
    }
    return STR("");
}
