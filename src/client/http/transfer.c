/* libcurl's sockets and times on the loop. Its callbacks only take notes: whoever is told of bytes
 * or ends is called when libcurl has returned, and may start and stop what they like. */
#include "client/http/transfer_int.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* How a dead peer is noticed: silence for so long is asked about, so many times; and bytes that
 * nobody takes. */
enum { IDLE_SECONDS = 15, ASK_SECONDS = 10, ASKS = 3, UNTAKEN_MILLISECONDS = 30000 };

enum { CONNECT_MILLISECONDS = 10000 };

/* A socket of libcurl's. The loop has a descriptor of its own for it, as libcurl at times closes
 * its one before it says that it is done with it. */
struct sock {
    struct net_io io;
    struct client__hub *hub;
    curl_socket_t of_curl;
};

/* ---- who is told ---- */

static void unlink_ready(struct client__transfer *t) {
    if (!t->link)
        return;
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    t->next = NULL;
    t->link = NULL;
}

static void link_ready(struct client__transfer *t) {
    struct client__hub *h = t->hub;
    if (t->link)
        return;
    t->next = h->ready;
    if (t->next)
        t->next->link = &t->next;
    t->link = &h->ready;
    h->ready = t;
}

static void tell_taken(struct client__hub *h) {
    for (struct client__transfer *t; (t = h->ready);) {
        unlink_ready(t);
        t->taken(t);
    }
}

/* Others need not wait for this one any more. */
static void end_probe(struct client__transfer *t) {
    struct client__hub *h = t->hub;
    if (h->probe != t)
        return;
    h->probe = NULL;
    net_loop_defer(h->loop, h->queue);
}

static void end(struct client__transfer *t) {
    struct client__hub *h = t->hub;
    unlink_ready(t);
    end_probe(t);
    h->curl.multi_remove_handle(h->multi, t->easy);
    h->curl.easy_cleanup(t->easy);
    h->curl.slist_free_all(t->headers);
    t->easy = NULL;
    t->headers = NULL;
}

static void note_status(struct client__transfer *t) {
    long status = 0;
    t->hub->curl.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->status = (int)status;
}

/* Nobody listens there: libcurl's text does not tell that from a host that is out of reach. */
static bool was_refused(const struct client__transfer *t, CURLcode result) {
    long number = 0;
    t->hub->curl.easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
    return result == CURLE_COULDNT_CONNECT && number == ECONNREFUSED;
}

static void tell_over(struct client__transfer *t, CURLcode result) {
    const struct client__curl *curl = &t->hub->curl;
    curl_off_t seconds = 0;
    note_status(t);
    curl->easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &seconds);
    client__hub_count(t->hub, t->method, result == CURLE_OK ? t->status : 0);
    t->retry_after = seconds > 0 && seconds <= INT32_MAX ? (int32_t)seconds : 0;
    if (result != CURLE_OK && result != CURLE_OPERATION_TIMEDOUT && result != CURLE_WRITE_ERROR)
        t->hub->is_open = false;
    if (t->got.full)
        snprintf(t->why, sizeof t->why, "the answer is longer than %zu bytes", t->most);
    else if (was_refused(t, result))
        snprintf(t->why, sizeof t->why, "connection refused");
    else if (result != CURLE_OK && !t->why[0])
        snprintf(t->why, sizeof t->why, "%s", curl->easy_strerror(result));
    end(t);
    t->over(t, result);
}

/* After each call that may have brought something. */
static void settle(struct client__hub *h) {
    int left;
    tell_taken(h);
    for (CURLMsg *m; (m = h->curl.multi_info_read(h->multi, &left));) {
        struct client__transfer *t = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        h->curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        tell_over(t, m->data.result);
    }
}

static void act(struct client__hub *h, curl_socket_t s, int events) {
    int running;
    h->curl.multi_socket_action(h->multi, s, events, &running);
    settle(h);
}

/* ---- what libcurl asks of the loop ---- */

static void on_io(void *arg, uint32_t events) {
    struct sock *s = arg;
    int flags = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    act(s->hub, s->of_curl, flags);
}

static struct sock *sock_new(struct client__hub *h, curl_socket_t fd) {
    struct sock *s = xcalloc(1, sizeof *s);
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        BUG("dup");
    *s = (struct sock){.io = {.fn = on_io, .arg = s, .fd = own}, .hub = h, .of_curl = fd};
    net_io_start(h->loop, &s->io, 0);
    h->curl.multi_assign(h->multi, fd, s);
    return s;
}

static void sock_free(struct sock *s) {
    net_io_stop(s->hub->loop, &s->io);
    close(s->io.fd);
    free(s);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket) {
    struct client__hub *h = user;
    struct sock *s = of_socket;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s)
            sock_free(s);
        return 0;
    }
    if (!s)
        s = sock_new(h, fd);
    net_io_change(h->loop, &s->io,
                  (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u));
    return 0;
}

static int on_timeout(CURLM *multi, long milliseconds, void *user) {
    struct client__hub *h = user;
    (void)multi;
    if (milliseconds < 0)
        net_timer_stop(h->loop, &h->timer);
    else
        net_timer_start(h->loop, &h->timer,
                        clock_mono(net_loop_clock(h->loop)) + milliseconds * (CLOCK_SECOND / 1000));
    return 0;
}

static void on_timer(void *arg) {
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

void client__hub_listen(struct client__hub *h) {
    h->timer = (struct net_timer){.fn = on_timer, .arg = h};
    h->curl.multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    h->curl.multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    h->curl.multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    h->curl.multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
}

/* ---- what libcurl asks of a transfer ---- */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *user) {
    struct client__transfer *t = user;
    note_status(t);
    buf_add(&t->got, (struct str){bytes, size * n});
    if (t->taken)
        link_ready(t);
    return t->got.full ? 0 : size * n;
}

static int on_connect(void *user, curl_socket_t fd, curlsocktype purpose) {
    static const struct {
        int option, value;
    } options[] = {{TCP_KEEPIDLE, IDLE_SECONDS},
                   {TCP_KEEPINTVL, ASK_SECONDS},
                   {TCP_KEEPCNT, ASKS},
                   {TCP_USER_TIMEOUT, UNTAKEN_MILLISECONDS}};
    (void)user;
    (void)purpose;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, IPPROTO_TCP, options[i].option, &options[i].value, sizeof(int));
    return CURL_SOCKOPT_OK;
}

/* ---- a transfer ---- */

static void add_header(struct client__transfer *t, const char *name, struct str value) {
    AUTO(buf_release) struct buf line = BUF_INIT(SIZE_MAX);
    if (!value.n)
        return;
    buf_addf(&line, "%s: %.*s", name, STR_ARG(value));
    buf_add_char(&line, '\0');
    t->headers = t->hub->curl.slist_append(t->headers, line.p);
}

static void set_blob(struct client__transfer *t, CURLoption option, struct str pem) {
    AUTO(buf_release) struct buf copy = BUF_INIT(SIZE_MAX);
    if (!pem.n)
        return;
    buf_add(&copy, pem);
    t->hub->curl.easy_setopt(
        t->easy, option,
        &(struct curl_blob){.data = copy.p, .len = copy.n, .flags = CURL_BLOB_COPY});
}

/* Whom to trust, and what to show. With authorities of its own, those of the system do not count.
 */
static void set_tls(struct client__transfer *t, const struct client__credential *as) {
    const struct client__curl *curl = &t->hub->curl;
    const struct kubeconfig_access *access = t->hub->access;
    if (access->is_insecure) {
        curl->easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl->easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (access->authorities.n) {
        curl->easy_setopt(t->easy, CURLOPT_CAINFO, NULL);
        curl->easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
        set_blob(t, CURLOPT_CAINFO_BLOB, access->authorities);
    }
    set_blob(t, CURLOPT_SSLCERT_BLOB, as->certificate);
    set_blob(t, CURLOPT_SSLKEY_BLOB, as->key);
}

/* The connection is there, and the request will be written. */
static int on_open(void *arg, char *to, char *from, int port, int own_port) {
    struct client__transfer *t = arg;
    (void)to;
    (void)from;
    (void)port;
    (void)own_port;
    t->hub->is_open = true;
    end_probe(t);
    return CURL_PREREQFUNC_OK;
}

static void set_connection(struct client__transfer *t) {
    const struct client__hub *h = t->hub;
    h->curl.easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    h->curl.easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    h->curl.easy_setopt(t->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    h->curl.easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, on_open);
    h->curl.easy_setopt(t->easy, CURLOPT_PREREQDATA, t);
    h->curl.easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MILLISECONDS);
    h->curl.easy_setopt(t->easy, CURLOPT_SOCKOPTFUNCTION, on_connect);
    h->curl.easy_setopt(t->easy, CURLOPT_CONNECT_TO, h->connect_to);
    if (h->access->proxy.n || h->is_near) {
        AUTO(buf_release) struct buf proxy = BUF_INIT(SIZE_MAX);
        buf_add(&proxy, h->access->proxy);
        buf_add_char(&proxy, '\0');
        h->curl.easy_setopt(t->easy, CURLOPT_PROXY, proxy.p);
    }
}

static void set_message(struct client__transfer *t, const struct client__message *m,
                        const struct client__credential *as) {
    const struct client__hub *h = t->hub;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_addf(&text, "%s%.*s", h->origin, STR_ARG(m->target));
    buf_add_char(&text, '\0');
    h->curl.easy_setopt(t->easy, CURLOPT_URL, text.p);
    if (m->content_type) {
        h->curl.easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)m->body.n);
        h->curl.easy_setopt(t->easy, CURLOPT_POSTFIELDS, m->body.p);
    }
    h->curl.easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, m->method);
    buf_clear(&text);
    if (as->token.n)
        buf_addf(&text, "Bearer %.*s", STR_ARG(as->token));
    add_header(t, "Authorization", buf_view(&text));
    add_header(t, "Host", str_of(h->host));
    add_header(t, "User-Agent", str_of(h->user_agent));
    add_header(t, "Accept", STR("application/json"));
    add_header(t, "Content-Type", str_of(m->content_type));
    t->headers = h->curl.slist_append(t->headers, "Expect:");
    h->curl.easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
}

void client__transfer_start(struct client__transfer *t, const struct client__message *m,
                            const struct client__credential *as, long milliseconds) {
    const struct client__curl *curl = &t->hub->curl;
    t->easy = curl->easy_init();
    if (!t->easy)
        BUG("curl_easy_init");
    buf_release(&t->got);
    t->got.max = t->most;
    t->why[0] = '\0';
    t->status = 0;
    t->retry_after = 0;
    t->method = m->method;
    if (!t->hub->is_open && !t->hub->probe)
        t->hub->probe = t;
    curl->easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl->easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->why);
    curl->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl->easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    curl->easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, milliseconds);
    set_connection(t);
    set_tls(t, as);
    set_message(t, m, as);
    curl->multi_add_handle(t->hub->multi, t->easy);
}

void client__transfer_stop(struct client__transfer *t) {
    if (t->easy)
        end(t);
    buf_release(&t->got);
}
