/* Exchanges of libcurl on a loop. */
#ifndef CLIENT_TRANSFER_INT_H
#define CLIENT_TRANSFER_INT_H

#include "client/credentials_int.h"
#include "client/http/curl_int.h"
#include "client/http/wire_int.h"
#include "net/loop.h"

struct client__transfer;

/* How often a method was answered with a status; 0: by nobody. */
struct client__tally {
    const char *method;
    int status;
    uint64_t n;
};

/* The connections of a client, and who is to be called on its loop. */
struct client__hub {
    struct client__curl curl;
    CURLM *multi;
    struct net_loop *loop;
    struct net_timer timer;
    const struct kubeconfig_access *access;
    char *user_agent;
    char *origin;                   /* scheme, host and port as they stand in URLs */
    char *host;                     /* of the header, if it is another one than that */
    struct curl_slist *connect_to;  /* where that is, if it is somewhere else */
    bool is_near;                   /* the server is on this machine: no proxy is asked */
    struct client__transfer *ready; /* have got bytes in this round */
    /* Has a connection been opened, and none failed since? While none is, one transfer is sent, and
     * others wait for it: then they share its connection, if it can be shared. (libcurl has them
     * wait by CURLOPT_PIPEWAIT, and forgets some of them until the time for connecting is over.) */
    bool is_open;
    struct client__transfer *probe; /* the one that is sent; NULL: none is, or it was opened */
    struct net_deferred *queue;     /* is called when others need not wait any more */
    VEC(struct client__tally) tallies;
};

/* Makes it usable; the access and `queue` are stored. -1 when libcurl is missing. */
int client__hub_init(struct client__hub *h, struct net_loop *loop,
                     const struct kubeconfig_access *access, struct str user_agent,
                     struct net_deferred *queue, struct err *err);

/* May a transfer be started now? If not, the hub calls its queue when one may. */
bool client__hub_takes(const struct client__hub *h);

/* Has libcurl's sockets and times looked after; a part of client__hub_init. */
void client__hub_listen(struct client__hub *h);

/* Closes all connections; transfers must have been stopped. */
void client__hub_release(struct client__hub *h);

/* Counts an exchange that is over. */
void client__hub_count(struct client__hub *h, const char *method, int status);

/* Appends what was counted as Prometheus reads it. */
void client__hub_write_metrics(const struct client__hub *h, struct buf *out);

/* An exchange, embedded in its owner; the first members are set once. */
struct client__transfer {
    struct client__hub *hub;
    size_t most; /* bytes of the answer that may wait for `taken` or the end */
    /* Bytes have come: `got` has them and may be emptied. NULL: all are wanted at the end. */
    void (*taken)(struct client__transfer *t);
    /* It is over, and may be started anew: CURLE_OK, or else `why` says why. */
    void (*over)(struct client__transfer *t, CURLcode result);
    struct buf got;
    int status;          /* of the answer; 0: there is none yet */
    int32_t retry_after; /* at the end: seconds of its header; 0: it has none */
    char why[CURL_ERROR_SIZE];
    const char *method;
    CURL *easy; /* NULL: it is not under way */
    struct curl_slist *headers;
    struct client__transfer *next, **link; /* among those that are ready; link NULL: it is not */
};

/* Sends a message, which must live until the end. No milliseconds: it may take any time. */
void client__transfer_start(struct client__transfer *t, const struct client__message *m,
                            const struct client__credential *as, long milliseconds);

/* Breaks it off, if it is under way, and forgets what has come. */
void client__transfer_stop(struct client__transfer *t);

#endif
