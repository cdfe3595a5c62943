/* Walks through the life of a scheduler, see walk.h. */
#include "../unit/sched/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 2000 };
    struct walk w;
    walk_all(&w, data, size < MOST ? size : MOST);
    return 0;
}
