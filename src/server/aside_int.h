/* What is answered beside what is stored: ways to whatever runs, and keys of tokens. */
#ifndef SERVER_ASIDE_INT_H
#define SERVER_ASIDE_INT_H

#include "server/server_int.h"

/* ---- who.c ---- */

/* Might whoever asks do the same with this verb? *reason tells what the rules say. */
bool server__may(struct server__call *c, struct str verb, struct str *reason);

/* ---- connecting.c ---- */

/* Answers a request to be led to something that runs; false: it is none. */
bool server__connect(struct server__call *c);

/* ---- openid.c ---- */

/* Answers with a document by which others verify tokens; false: the path is none. */
bool server__openid(struct server__call *c);

#endif
