/* One check per kind of vector file: a line in, verdict out. */
#ifndef TEST_VECTORS_H
#define TEST_VECTORS_H
#include "base/buf.h"
#include "codec/json.h"
/* 0 = the line's expectation holds; -1 = it does not, and the difference is written to why. */
typedef int vectors_check_fn(struct arena *a, const struct json *line, struct buf *why);
vectors_check_fn vectors_check_semver;
vectors_check_fn vectors_check_proto;
vectors_check_fn vectors_check_quantity;
vectors_check_fn vectors_check_labelselector;
vectors_check_fn vectors_check_daemon;
vectors_check_fn vectors_check_delete;
vectors_check_fn vectors_check_discovery;
vectors_check_fn vectors_check_jwt;
vectors_check_fn vectors_check_kubelet;
vectors_check_fn vectors_check_schedule;
vectors_check_fn vectors_check_admission;
vectors_check_fn vectors_check_apply;
vectors_check_fn vectors_check_patch;
vectors_check_fn vectors_check_preempt;
vectors_check_fn vectors_check_prepare;
vectors_check_fn vectors_check_rbac;
vectors_check_fn vectors_check_rbac_policy;
vectors_check_fn vectors_check_requeue;
vectors_check_fn vectors_check_merge;
vectors_check_fn vectors_check_decode;
vectors_check_fn vectors_check_validate_create;
vectors_check_fn vectors_check_convert;
vectors_check_fn vectors_check_validate_status;
vectors_check_fn vectors_check_validate_subresource;
vectors_check_fn vectors_check_validate_update;
vectors_check_fn vectors_check_yaml;
vectors_check_fn vectors_check_metadata;
vectors_check_fn vectors_check_rules;
vectors_check_fn vectors_check_network;
vectors_check_fn vectors_check_warnings;
vectors_check_fn vectors_check_nodeselector;
vectors_check_fn vectors_check_tolerate;
vectors_check_fn vectors_check_untolerated;
vectors_check_fn vectors_check_cel;
vectors_check_fn vectors_check_cel_conformance;
/* Writes the documents of discovery and OpenAPI into a folder. 0 or -1. */
int vectors_write_documents(const char *dir);
/* Writes the rows of the schema to standard output. */
void vectors_write_rows(void);
#endif
