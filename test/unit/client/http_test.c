/*
 * The carrier by HTTP and servers that say what they are told to: those that know no WatchList, are
 * silent, refuse, or say too much; and with what credentials they are asked.
 */
#include <sys/stat.h>

#include "fake_server.h"

#include "base/limits.h"

enum { WAIT_SECONDS = 60 };

#define GONE_EVENT \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}}\n"
#define POD(name) \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"d\",\"resourceVersion\":\"3\"}}"

struct fake {
    struct fake_server server;
    char dir[32];
    struct client *client;
    /* of the last request */
    size_t answers;
    bool has_answer;
    enum err_code code;
    int status;
    char message[256];
    /* of a watch */
    struct buf events;
    bool has_begun, has_ended;
    enum err_code end_code;
};

static void begin_on(struct fake *f, const struct row *rows, const struct clock *clock) {
    *f = (struct fake){.events = BUF_INIT(1 << 20), .dir = "/tmp/berth-fake-XXXXXX"};
    fake_begin(&f->server, rows, clock);
    assert_non_null(mkdtemp(f->dir));
}

static void begin(struct fake *f, const struct row *rows) {
    begin_on(f, rows, &clock_system);
}

static void start_client(struct fake *f, struct client_http_opts opts) {
    struct err err = {0};
    opts.loop = f->server.loop;
    opts.access = &f->server.access;
    opts.user_agent = STR("fake-test/1");
    f->client = client_http_new(&opts, &err);
    if (!f->client)
        fail_msg("%s", err.msg);
}

static void end(struct fake *f) {
    client_free(f->client);
    fake_end(&f->server);
    buf_release(&f->events);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
}

/* ---- a client ---- */

static void answered(void *arg, const struct client_answer *a) {
    struct fake *f = arg;
    f->answers++;
    f->code = a->code;
    f->status = a->status;
    snprintf(f->message, sizeof f->message, "%.*s", STR_ARG(a->message));
    f->has_answer = true;
}

static void wait_for(struct fake *f, const bool *what) {
    int64_t until = clock_mono(&clock_system) + WAIT_SECONDS * CLOCK_SECOND;
    while (!*what && clock_mono(&clock_system) < until)
        net_loop_turn(f->server.loop, CLOCK_SECOND);
    if (!*what)
        fail_msg("nothing came; asked was\n%.*s", STR_ARG(buf_view(&f->server.log)));
}

static void send_get_of(struct fake *f, enum api_type_id type) {
    client_send(f->client,
                &(struct client_request){
                    .verb = REGISTRY_VERB_GET, .kind = client_kind(type), .name = STR("n")},
                answered, f);
}

static void send_get(struct fake *f) {
    send_get_of(f, API_T_node);
}

static enum err_code ask(struct fake *f) {
    f->has_answer = false;
    send_get(f);
    wait_for(f, &f->has_answer);
    return f->code;
}

static void see(void *arg, const struct client_event *e) {
    static const char *const types[] = {"+", "~", "-", "=", "."};
    struct fake *f = arg;
    buf_addf(&f->events, "%s", types[e->type]);
    if (e->object)
        buf_add(&f->events, e->object->meta->name);
    if (e->type == CLIENT_BOOKMARK)
        buf_addf(&f->events, "%llu", (unsigned long long)e->revision);
    f->has_begun |= e->ends_initial_events;
    f->has_ended |= e->type == CLIENT_ENDED;
    f->end_code = e->type == CLIENT_ENDED ? e->code : f->end_code;
}

static struct client_watch *watch(struct fake *f, const char *revision) {
    return client_watch_start(f->client, client_kind(API_T_pod),
                              &(struct client_selection){.resource_version = str_of(revision)}, see,
                              f);
}

#define EXPECT_LOG(f, text)                                              \
    do {                                                                 \
        if (str_find(buf_view(&(f)->server.log), STR(text)) == STR_NONE) \
            fail_msg("%d: '%s' was not asked:\n%.*s", __LINE__, text,    \
                     STR_ARG(buf_view(&(f)->server.log)));               \
    } while (0)

/* ---- watches ---- */

static const struct row old_server[] = {
    {"sendInitialEvents=true",
     "HTTP/1.1 422 Unprocessable Entity\r\nConnection: close\r\n\r\n"
     "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"sendInitialEvents is forbidden\"}",
     false},
    {"continue=more",
     OK_HEAD
     "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" POD("b") "]}",
     false},
    {"limit=500",
     OK_HEAD "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"more\"},"
             "\"items\":[" POD("a") "]}",
     false},
    {"watch=true",
     OK_HEAD
     "{\"type\":\"MODIFIED\",\"object\":" POD("a") "}\n{\"type\":\"DELETED\",\"object\":" POD(
         "b") "}\n{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n",
     false},
    {0},
};

static void servers_without_watch_lists_are_listed(void **state) {
    (void)state;
    struct fake f;
    begin(&f, old_server);
    start_client(&f, (struct client_http_opts){0});
    struct client_watch *w = watch(&f, "");
    wait_for(&f, &f.has_ended);
    assert_string_equal(arena_str(&f.server.arena, buf_view(&f.events)).p, "+a+b=7~a-b=9.");
    assert_int_equal(f.end_code, ERR_NONE);
    EXPECT_LOG(&f, "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeout");
    EXPECT_LOG(&f, "User-Agent: fake-test/1\r\n");
    client_watch_stop(w);
    end(&f);
}

/* The second page is gone when it is asked for: all is asked for at once, and what is not there any
 * more was never told. */
static const struct row expiring_pages[] = {
    {"sendInitialEvents=true",
     "HTTP/1.1 422 Unprocessable Entity\r\nConnection: close\r\n\r\n"
     "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"sendInitialEvents is forbidden\"}",
     false},
    {"continue=more",
     "HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"reason\":\"Expired\"}",
     false},
    {"limit=500",
     OK_HEAD "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"more\"},"
             "\"items\":[" POD("a") "]}",
     false},
    {"watch=true",
     OK_HEAD "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n",
     false},
    {"GET /api/v1/pods HTTP",
     OK_HEAD "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"8\"},\"items\":[" POD(
         "b") "," POD("c") "]}",
     false},
    {0},
};

static void lists_that_expire_are_asked_for_whole(void **state) {
    (void)state;
    struct fake f;
    begin(&f, expiring_pages);
    start_client(&f, (struct client_http_opts){0});
    struct client_watch *w = watch(&f, "");
    wait_for(&f, &f.has_ended);
    assert_string_equal(arena_str(&f.server.arena, buf_view(&f.events)).p, "+b+c=8=9.");
    assert_int_equal(f.end_code, ERR_NONE);
    assert_int_equal(f.server.count, 5);
    EXPECT_LOG(&f, "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=8&timeout");
    client_watch_stop(w);
    end(&f);
}

/* A first page that has expired is a failure: nothing that is newer can be asked for. */
static const struct row expired_at_once[] = {
    {"sendInitialEvents=true",
     "HTTP/1.1 422 Unprocessable Entity\r\nConnection: close\r\n\r\n"
     "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"sendInitialEvents is forbidden\"}",
     false},
    {"limit=500",
     "HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"reason\":\"Expired\"}",
     false},
    {0},
};

static const struct row gone_later[] = {
    {"watch=true", OK_HEAD "{\"type\":\"ADDED\",\"object\":" POD("a") "}\n" GONE_EVENT "x\n", true},
    {0},
};
static const struct row gone_at_once[] = {
    {"watch=true",
     "HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"reason\":\"Expired\"}",
     false},
    {0},
};
static const struct row garbled[] = {{"watch=true", OK_HEAD "nonsense\n", true}, {0}};
static const struct row cut[] = {
    {"watch=true",
     "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"type\":\"ADDED\",\"object\":" POD("a") "}\n",
     false},
    {0},
};

static const struct {
    const struct row *rows;
    const char *events;
    enum err_code code;
} ends[] = {
    {gone_later, "+a.", ERR_EXPIRED},
    {gone_at_once, ".", ERR_EXPIRED},
    {garbled, ".", ERR_INTERNAL},
    {cut, "+a.", ERR_UNAVAILABLE},
};

static void a_list_that_is_gone_ends_the_watch(void **state) {
    (void)state;
    struct fake f;
    begin(&f, expired_at_once);
    start_client(&f, (struct client_http_opts){0});
    struct client_watch *w = watch(&f, "");
    wait_for(&f, &f.has_ended);
    assert_string_equal(arena_str(&f.server.arena, buf_view(&f.events)).p, ".");
    assert_int_equal(f.end_code, ERR_EXPIRED);
    assert_int_equal(f.server.count, 2);
    client_watch_stop(w);
    end(&f);
}

static void watches_end_with_a_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct fake f;
        begin(&f, ends[i].rows);
        start_client(&f, (struct client_http_opts){0});
        struct client_watch *w = watch(&f, "5");
        wait_for(&f, &f.has_ended);
        assert_string_equal(arena_str(&f.server.arena, buf_view(&f.events)).p, ends[i].events);
        assert_int_equal(f.end_code, ends[i].code);
        client_watch_stop(w);
        end(&f);
    }
}

static void watches_are_stopped_at_any_time(void **state) {
    (void)state;
    for (int turns = 0; turns < 12; turns++) {
        struct fake f;
        begin(&f, turns % 2 ? expiring_pages : gone_later);
        start_client(&f, (struct client_http_opts){0});
        struct client_watch *w = watch(&f, "");
        for (int i = 0; i < turns; i++)
            net_loop_turn(f.server.loop, CLOCK_SECOND / 100);
        client_watch_stop(w);
        end(&f);
    }
}

/* ---- calls ---- */

static const struct row silent[] = {{0}};
static const struct row plain[] = {
    {"GET", OK_HEAD "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\"}}",
     false},
    {0},
};
static const struct row busy[] = {
    {"GET", "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n\r\nslow", false},
    {0},
};

#define COME_AGAIN \
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\nslow"

/* A second of this clock is a tenth of one. */
static int64_t quick_wall(const struct clock *self) {
    (void)self;
    return clock_wall(&clock_system);
}

static int64_t quick_mono(const struct clock *self) {
    (void)self;
    return clock_mono(&clock_system) * 10;
}

static int64_t quick_wait(const struct clock *self, int64_t ns) {
    (void)self;
    return ns / 10;
}

static const struct clock quick = {.wall = quick_wall, .mono = quick_mono, .wait = quick_wait};

static void busy_servers_are_asked_again(void **state) {
    static const struct row again[] = {{"GET", COME_AGAIN, false}, {0}};
    (void)state;
    struct fake f;
    begin_on(&f, again, &quick);
    start_client(&f, (struct client_http_opts){0});
    send_get(&f);
    int64_t from = clock_mono(&quick);
    while (f.server.count < 2)
        net_loop_turn(f.server.loop, CLOCK_SECOND);
    assert_true(clock_mono(&quick) - from >= CLOCK_SECOND);
    assert_int_equal(f.answers, 0);
    f.server.rows = plain;
    wait_for(&f, &f.has_answer);
    assert_int_equal(f.code, ERR_NONE);
    assert_int_equal(f.server.count, 3);
    f.server.rows = again; /* for ever */
    f.server.count = 0;
    assert_int_equal(ask(&f), ERR_UNAVAILABLE);
    assert_int_equal(f.server.count, 1 + LIMIT_CLIENT_RETRIES);
    end(&f);
}

#define COME_AFTER(seconds)                                                        \
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: " seconds "\r\nConnection: " \
    "close\r\n\r\nslow"

/* The answer is told at once when the time of the request would be over, or much later anyway. */
static void who_is_told_to_come_much_later_is_told_so(void **state) {
    static const struct {
        struct row rows[2];
        int64_t timeout;
    } cases[] = {
        {{{"GET", COME_AFTER("86400"), false}, {0}}, 5 * CLOCK_SECOND},
        {{{"GET", COME_AFTER("5"), false}, {0}}, 5 * CLOCK_SECOND},
        {{{"GET", COME_AFTER("61"), false}, {0}}, 3600 * CLOCK_SECOND},
        {{{"GET", COME_AFTER("61"), false}, {0}}, INT64_MAX},
    };
    (void)state;
    assert_int_equal(LIMIT_CLIENT_RETRY_SECONDS, 60);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake f;
        begin(&f, cases[i].rows);
        start_client(&f, (struct client_http_opts){.timeout = cases[i].timeout});
        int64_t from = clock_mono(&clock_system);
        assert_int_equal(ask(&f), ERR_UNAVAILABLE);
        assert_true(clock_mono(&clock_system) - from < 4 * CLOCK_SECOND);
        assert_int_equal(f.status, 503);
        assert_int_equal(f.server.count, 1);
        end(&f);
    }
}

/* Retries are within the time of the request, which begins when it is first sent. */
static void retries_take_time_of_the_request(void **state) {
    static const struct row again[] = {{"GET", COME_AGAIN, false}, {0}};
    (void)state;
    struct fake f;
    begin_on(&f, again, &quick);
    start_client(&f, (struct client_http_opts){.timeout = 7 * CLOCK_SECOND / 2});
    assert_true(ask(&f) != ERR_NONE);
    assert_in_range(f.server.count, 1, 4);
    end(&f);
}

static void silence_has_an_end(void **state) {
    (void)state;
    struct fake f;
    begin(&f, silent);
    start_client(&f, (struct client_http_opts){.timeout = CLOCK_SECOND / 5});
    assert_int_equal(ask(&f), ERR_TIMEOUT);
    assert_int_equal(f.status, 0);
    assert_true(f.message[0]);
    end(&f);
}

static void nobody_there_is_a_failure(void **state) {
    (void)state;
    struct fake f;
    begin(&f, plain);
    fake_stop_listening(&f.server);
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_UNAVAILABLE);
    assert_int_equal(f.status, 0);
    end(&f);
}

static void keep_text(void *arg, const struct client_answer *a) {
    struct fake *f = arg;
    answered(arg, a);
    snprintf(f->message, sizeof f->message, "%.*s", STR_ARG(a->code ? a->message : a->text));
}

static void ask_path(struct fake *f, const char *path) {
    f->has_answer = false;
    client_send(f->client,
                &(struct client_request){.verb = REGISTRY_VERB_GET, .path = str_of(path)},
                keep_text, f);
    wait_for(f, &f->has_answer);
}

static const struct row texts[] = {
    {"GET /version HTTP", OK_HEAD "some text", false},
    {"GET /metrics HTTP",
     "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n"
     "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"not you\"}",
     false},
    {0},
};

static void paths_are_asked_for_as_they_are(void **state) {
    (void)state;
    struct fake f;
    begin(&f, texts);
    start_client(&f, (struct client_http_opts){0});
    ask_path(&f, "/version");
    assert_int_equal(f.code, ERR_NONE);
    assert_string_equal(f.message, "some text");
    ask_path(&f, "/metrics");
    assert_int_equal(f.code, ERR_FORBIDDEN);
    assert_string_equal(f.message, "not you");
    end(&f);
}

static void long_answers_are_refused(void **state) {
    (void)state;
    struct fake f;
    begin(&f, plain);
    f.server.flood = LIMIT_CLIENT_ANSWER_BYTES / 8;
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_INTERNAL); /* too long for an object, but not for an answer */
    f.server.flood = LIMIT_CLIENT_ANSWER_BYTES;
    assert_int_equal(ask(&f), ERR_TOO_LARGE);
    assert_int_equal(f.status, 200);
    assert_string_equal(f.message, "the answer is longer than 67108864 bytes");
    end(&f);
}

static void requests_are_spread_over_time(void **state) {
    (void)state;
    struct fake f;
    begin(&f, busy);
    start_client(&f, (struct client_http_opts){.qps = 20, .burst = 2});
    int64_t from = clock_mono(&clock_system);
    for (int i = 0; i < 8; i++)
        send_get(&f);
    struct client_watch *w = watch(&f, "5"); /* which does not wait in line */
    while (f.answers < 8) {
        net_loop_turn(f.server.loop, CLOCK_SECOND);
        if (f.has_ended)
            assert_true(f.end_code == ERR_TOO_MANY);
        assert_true(clock_mono(&clock_system) - from < WAIT_SECONDS * CLOCK_SECOND);
        double seconds = (double)(clock_mono(&clock_system) - from) / (double)CLOCK_SECOND;
        assert_true((double)f.answers <= 2 + seconds * 20 + 1e-6);
    }
    assert_true(f.has_ended);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    client_metrics_write(f.client, &text);
    assert_true(str_find(buf_view(&text), STR("method=\"GET\"} 9\n")) != STR_NONE);
    assert_true(str_find(buf_view(&text), STR("rest_client_requests_total{code=\"429\",host=\""
                                              "127.0.0.1:")) != STR_NONE);
    client_watch_stop(w);
    end(&f);
}

/* Events have a bucket of their own: they neither wait for other requests nor hold them up. */
static void events_are_limited_by_themselves(void **state) {
    (void)state;
    struct fake f;
    begin(&f, busy);
    start_client(&f, (struct client_http_opts){.qps = 0.001, .burst = 2});
    for (int i = 0; i < 4; i++)
        send_get(&f);
    for (int i = 0; i < 4; i++)
        send_get_of(&f, API_T_event);
    for (int i = 0; i < 20; i++)
        net_loop_turn(f.server.loop, CLOCK_SECOND / 50);
    assert_int_equal(f.answers, 4);
    end(&f);
}

static void other_names_are_for_certificates_alone(void **state) {
    (void)state;
    struct fake f;
    begin(&f, plain);
    f.server.access.server_name = STR("inside");
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_NONE);
    EXPECT_LOG(&f, "\r\nHost: 127.0.0.1:");
    end(&f);
}

/* ---- credentials ---- */

static struct str write_file(struct fake *f, const char *name, const char *text) {
    struct str path = arena_printf(&f->server.arena, "%s/%s", f->dir, name);
    FILE *file = fopen(path.p, "w");
    fputs(text, file);
    fclose(file);
    chmod(path.p, 0700);
    return path;
}

static void tokens_are_shown(void **state) {
    (void)state;
    struct fake f;
    begin(&f, plain);
    f.server.access.token = STR("given");
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_NONE);
    EXPECT_LOG(&f, "\r\nAuthorization: Bearer given\r\n");
    client_free(f.client);
    f.server.access.token_file = write_file(&f, "token", "filed\n");
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_NONE);
    EXPECT_LOG(&f, "\r\nAuthorization: Bearer filed\r\n");
    client_free(f.client);
    f.server.access.token_file = write_file(&f, "token", "two\nlines");
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_UNAUTHORIZED);
    assert_string_equal(f.message, "the token has characters that no header can have");
    client_free(f.client);
    f.server.access.token = STR("");
    f.server.access.token_file = STR("/missing");
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_IO);
    assert_true(str_starts(str_of(f.message), STR("tokenFile: cannot read '/missing'")));
    end(&f);
}

static const struct row strict[] = {
    {"Bearer run-2",
     OK_HEAD "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\"}}", false},
    {"GET",
     "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n"
     "{\"kind\":\"Status\",\"reason\":\"Unauthorized\"}",
     false},
    {0},
};

/* Each run of the program gives another token. */
static void programs_are_asked_for_tokens(void **state) {
    (void)state;
    struct fake f;
    begin(&f, strict);
    struct str args[] = {STR("x y"), STR("")};
    struct kubeconfig_variable variables[] = {{STR("PLACE"), str_of(f.dir)}};
    struct kubeconfig_exec exec = {
        .api_version = STR("client.authentication.k8s.io/v1"),
        .command =
            write_file(&f, "login",
                       "#!/bin/sh\n"
                       "printf '%s|' \"$@\" >$PLACE/args\n"
                       "echo \"$KUBERNETES_EXEC_INFO\" >$PLACE/info\n"
                       "echo >>$PLACE/runs\n"
                       "runs=$(wc -l <$PLACE/runs)\n"
                       "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                       "authentication.k8s.io/v1\",\"status\":{\"token\":\"run-'$runs'\"}}'\n"),
        .args = args,
        .arg_count = 2,
        .variables = variables,
        .variable_count = 1,
        .provides_cluster_info = true,
    };
    f.server.access.exec = &exec;
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_UNAUTHORIZED);
    assert_int_equal(f.status, 401);
    assert_int_equal(ask(&f), ERR_NONE);
    assert_int_equal(ask(&f), ERR_NONE);
    struct str text;
    struct err err;
    assert_int_equal(kubeconfig_read_file(&f.server.arena,
                                          arena_printf(&f.server.arena, "%s/args", f.dir), &text,
                                          &err),
                     0);
    assert_true(str_is(text, "x y||"));
    assert_int_equal(kubeconfig_read_file(&f.server.arena,
                                          arena_printf(&f.server.arena, "%s/info", f.dir), &text,
                                          &err),
                     0);
    assert_true(str_is(str_trim(text),
                       arena_printf(&f.server.arena,
                                    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                                    "authentication.k8s.io/v1\",\"spec\":{\"cluster\":{\"server\":"
                                    "\"%.*s\"},\"interactive\":false}}",
                                    STR_ARG(f.server.access.server))
                           .p));
    end(&f);
}

static const struct {
    const char *script, *why;
} bad_programs[] = {
    {"exit 3", "it has ended with code 3"},
    {"echo nonsense", ""},
    {"echo '{}'", "it is no ExecCredential of client.authentication.k8s.io/v1"},
    {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"}'",
     "it has neither a token nor a certificate"},
    {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
     "\"status\":{\"clientKeyData\":\"k\"}}'",
     "of certificate and key, one is not there"},
    {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
     "\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}'",
     "expirationTimestamp \"soon\" is no time"},
    {"head -c 5000000 /dev/zero", "it prints more than 4194304 bytes"},
};

static void programs_that_fail_are_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_programs / sizeof *bad_programs; i++) {
        struct fake f;
        begin(&f, plain);
        struct str script =
            arena_printf(&f.server.arena, "#!/bin/sh\n%s\n", bad_programs[i].script);
        struct kubeconfig_exec exec = {.api_version = STR("client.authentication.k8s.io/v1"),
                                       .command = write_file(&f, "login", script.p)};
        f.server.access.exec = &exec;
        start_client(&f, (struct client_http_opts){0});
        assert_int_equal(ask(&f), ERR_UNAUTHORIZED);
        assert_int_equal(f.server.count, 0);
        struct str want = arena_printf(&f.server.arena, "exec '%.*s': %s", STR_ARG(exec.command),
                                       bad_programs[i].why);
        if (!str_starts(str_of(f.message), want))
            fail_msg("want %s\n got %s", want.p, f.message);
        end(&f);
    }
}

static void missing_programs_can_be_had(void **state) {
    (void)state;
    struct fake f;
    begin(&f, plain);
    struct kubeconfig_exec exec = {.api_version = STR("client.authentication.k8s.io/v1"),
                                   .command = STR("/missing/login"),
                                   .install_hint = STR("buy it")};
    f.server.access.exec = &exec;
    start_client(&f, (struct client_http_opts){0});
    assert_int_equal(ask(&f), ERR_UNAUTHORIZED);
    assert_string_equal(f.message,
                        "exec '/missing/login': '/missing/login' is not installed: buy it");
    send_get(&f); /* and one that is under way may be left */
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_without_watch_lists_are_listed),
        cmocka_unit_test(lists_that_expire_are_asked_for_whole),
        cmocka_unit_test(a_list_that_is_gone_ends_the_watch),
        cmocka_unit_test(watches_end_with_a_reason),
        cmocka_unit_test(watches_are_stopped_at_any_time),
        cmocka_unit_test(silence_has_an_end),
        cmocka_unit_test(nobody_there_is_a_failure),
        cmocka_unit_test(paths_are_asked_for_as_they_are),
        cmocka_unit_test(long_answers_are_refused),
        cmocka_unit_test(busy_servers_are_asked_again),
        cmocka_unit_test(who_is_told_to_come_much_later_is_told_so),
        cmocka_unit_test(retries_take_time_of_the_request),
        cmocka_unit_test(requests_are_spread_over_time),
        cmocka_unit_test(events_are_limited_by_themselves),
        cmocka_unit_test(other_names_are_for_certificates_alone),
        cmocka_unit_test(tokens_are_shown),
        cmocka_unit_test(programs_are_asked_for_tokens),
        cmocka_unit_test(programs_that_fail_are_named),
        cmocka_unit_test(missing_programs_can_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
