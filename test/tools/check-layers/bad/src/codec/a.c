#include "codec/a.h"

#include "api/b.h"
#include "b.h"
