/*
 * Between the walk through updates, the table of subresources that have steps of their own, and
 * these steps.
 */
#ifndef VALID_SUBRESOURCE_INT_H
#define VALID_SUBRESOURCE_INT_H

#include "valid/valid_int.h"

/* What all writes to subresources with steps of their own share: what is kept of old, whatever
 * `change` does. */
void valid__prepare(struct api_object *o, const struct api_object *old,
                    const struct valid_opts *opts, valid_prepare_fn *change);

/* The rules of metadata of an update, and then those of a kind or a subresource, unless NULL. */
void valid__check(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, valid_update_fn *rules, struct valid_errs *out);

/* Takes over old's labels, annotations, finalizers, owners and time of deletion: who writes a
 * subresource does not write metadata, but for who manages what.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func ResetObjectMetaForStatus. */
void valid__keep_meta(struct api_object *o, const struct api_object *old);

/* Subresources that have rules of their own: one row each in subresources.c. */
valid_prepare_fn valid__ephemeral_prepare, valid__resize_prepare;
valid_update_fn valid__ephemeral_check, valid__resize_check, valid__approval_check,
    valid__certificate_check;

#endif
