/* Pages of lists, one after the other in each list, and several lists beside each other. */
#include "client/lister.h"

#include "base/limits.h"

/* As kubectl's pages; lists that are read at once; and how often a list is begun anew. */
enum { PAGE = 500, BESIDE = 6, MOST_EXPIRED = 3 };

static void start_next(struct client_lists *all);

static void forget(struct client_list *list) {
    for (size_t i = 0; i < list->items.n; i++)
        api_object_unref(list->items.v[i]);
    vec_clear(&list->items);
}

static void end(struct client_list *list) {
    buf_release(&list->token);
    list->is_done = true;
    list->all->under_way--;
    start_next(list->all);
}

static void fail(struct client_list *list, enum err_code code, struct str why) {
    forget(list);
    err_set(&list->failure, code, "%.*s", STR_ARG(why));
    end(list);
}

static void send(struct client_list *list);

static void ask(struct client_list *list, struct str continue_token) {
    buf_clear(&list->token);
    buf_add(&list->token, continue_token);
    send(list);
}

/* The list has changed so much since it began that its next page is not there any more. */
static bool begin_anew(struct client_list *list, const struct client_answer *a) {
    bool is_gone = a->code == ERR_EXPIRED || a->code == ERR_GONE;
    if (!is_gone || list->expired++ == MOST_EXPIRED)
        return false;
    if (list->is_whole_if_expired && !list->token.n)
        return false;
    list->limit = list->is_whole_if_expired ? 0 : list->limit;
    list->all->listed -= list->items.n;
    forget(list);
    ask(list, STR(""));
    return true;
}

/* Objects are so large that fewer of them must do for an answer. */
static bool ask_for_less(struct client_list *list, const struct client_answer *a) {
    if (a->code != ERR_TOO_LARGE || list->limit == 1)
        return false;
    list->limit = list->limit ? list->limit / 2 : PAGE;
    send(list);
    return true;
}

static void keep(struct client_list *list, const struct client_answer *a) {
    for (size_t i = 0; i < a->item_count; i++)
        vec_push(&list->items, api_object_ref(a->items[i]));
    list->all->listed += a->item_count;
    buf_clear(&list->version);
    buf_add(&list->version, a->resource_version);
}

/* More objects than anybody has, or page after page with hardly any in them. An empty page counts
 * as a full one, so that small pages do not make the end a far one. */
static bool is_endless(struct client_list *list, const struct client_answer *a) {
    struct client_lists *all = list->all;
    size_t most = all->most ? all->most : LIMIT_CLIENT_LISTED;
    size_t room = list->limit ? list->limit : a->item_count;
    all->asked += a->item_count ? room : PAGE;
    return all->listed > most || all->asked > (MOST_EXPIRED + 1) * (most + all->n * PAGE);
}

static void on_page(void *arg, const struct client_answer *a) {
    struct client_list *list = arg;
    struct client_lists *all = list->all;
    list->call = NULL;
    list->status = a->status;
    if (a->code && (begin_anew(list, a) || ask_for_less(list, a)))
        return;
    if (a->code) {
        fail(list, a->code, a->message);
        return;
    }
    keep(list, a);
    if (all->came)
        all->came(all->arg);
    if (is_endless(list, a))
        fail(list, ERR_TOO_LARGE, STR("there are too many objects"));
    else if (a->continue_token.n)
        ask(list, a->continue_token);
    else
        end(list);
}

static void send(struct client_list *list) {
    struct client_request r = {
        .verb = REGISTRY_VERB_LIST, .kind = list->kind, .selection = list->selection};
    r.selection.limit = list->limit;
    r.selection.continue_token = buf_view(&list->token);
    list->call = client_send(list->all->client, &r, on_page, list);
}

static void start_next(struct client_lists *all) {
    while (all->started < all->n && all->under_way < BESIDE) {
        struct client_list *list = &all->v[all->started++];
        list->all = all;
        list->limit = PAGE;
        list->token.max = list->version.max = SIZE_MAX;
        all->under_way++;
        ask(list, STR(""));
    }
    if (!all->under_way)
        all->done(all->arg);
}

void client_lists_start(struct client_lists *all) {
    start_next(all);
}

void client_list_take(struct client_list *list,
                      void (*visit)(void *arg, const struct api_object *o), void *arg) {
    for (size_t i = 0; i < list->items.n; i++) {
        visit(arg, list->items.v[i]);
        api_object_unref(list->items.v[i]);
    }
    vec_release(&list->items);
}

void client_lists_release(struct client_lists *all) {
    for (size_t i = 0; i < all->started; i++) {
        struct client_list *list = &all->v[i];
        if (list->call)
            client_cancel(list->call);
        buf_release(&list->token);
        forget(list);
        vec_release(&list->items);
        buf_release(&list->version);
    }
    all->started = all->under_way = 0;
}
