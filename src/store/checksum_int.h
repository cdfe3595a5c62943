/*
 * Checksums of what is on disk: XXH64, as its specification has it, so that any tool can compute
 * them. A checksum is the seed of the next one, where several texts make one record.
 */
#ifndef STORE_CHECKSUM_INT_H
#define STORE_CHECKSUM_INT_H

#include "base/str.h"

/* XXH64 of the bytes. */
uint64_t store__checksum(struct str bytes, uint64_t seed);

/* The same of numbers, each as 8 bytes, the lowest first. */
uint64_t store__checksum_words(const uint64_t *words, size_t n, uint64_t seed);

#endif
