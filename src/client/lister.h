/*
 * Lists of several kinds at once, page by page: a picture of a cluster for those who ask once and
 * do not watch. Kinds are read beside each other, so the picture is not of one moment; whoever
 * needs that watches.
 *
 * Follows k8s.io/client-go tools/pager, func (*ListPager) EachListItem.
 */
#ifndef CLIENT_LISTER_H
#define CLIENT_LISTER_H

#include "base/buf.h"
#include "base/vec.h"
#include "client/client.h"

/* One list; the first three members are what is asked. */
struct client_list {
    const struct api_kind *kind;
    struct client_selection selection; /* without limit and continue; its texts are stored */
    bool is_whole_if_expired; /* what has expired between its pages is asked for without pages */

    struct err failure; /* with ERR_NONE: all of it has come */
    int status;         /* of HTTP, of the answer that was a failure; 0: no server answered */
    VEC(const struct api_object *) items; /* held */

    struct buf version; /* resourceVersion of the last page */

    struct client_lists *all; /* the rest belongs to client_lists */
    struct client_call *call;
    struct buf token; /* of the page that was asked for last */
    unsigned limit;   /* objects of a page; 0: all */
    unsigned expired;
    bool is_done;
};

/* Several of them. */
struct client_lists {
    struct client *client; /* stored */
    struct client_list *v; /* stored, zeroed but for what is asked */
    size_t n;
    size_t most; /* objects of all of them; 0: LIMIT_CLIENT_LISTED */
    /* Called when all have come or failed, from a later turn of the loop, and after each page. */
    void (*done)(void *arg);
    void (*came)(void *arg); /* NULL: nobody asks */
    void *arg;

    size_t listed; /* objects that have come; the rest belongs to client_lists */
    size_t asked;  /* objects for which pages have had room */
    size_t started, under_way;
};

/* Begins to read them, a few at a time. A page that is gone before it was asked for (410) begins
 * its list anew, a few times, in pages or in one piece. One that is too large is asked for again
 * with half the objects, down to one, and those behind it are as small. */
void client_lists_start(struct client_lists *all);

/* Hands the objects of a list that has come to visit, one by one, and lets go of them. */
void client_list_take(struct client_list *list,
                      void (*visit)(void *arg, const struct api_object *o), void *arg);

/* Breaks off what is under way and lets go of all objects. */
void client_lists_release(struct client_lists *all);

#endif
