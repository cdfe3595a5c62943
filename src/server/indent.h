/*
 * JSON for people: the same bytes with line breaks and two spaces for each level.
 *
 * Follows k8s.io/apimachinery pkg/runtime/serializer/json, func (*Serializer) doEncode.
 */
#ifndef SERVER_INDENT_H
#define SERVER_INDENT_H

#include "base/buf.h"

/* Appends compact JSON as Go's MarshalIndent prints it, without a line break at its end. What is
 * not JSON comes out as something that is not JSON either. */
void server_indent(struct buf *out, struct str json);

#endif
