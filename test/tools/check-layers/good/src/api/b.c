#include "api/b.h"

#include <stdio.h>

#include "api/api_int.h"
#include "base/str.h"
#include "codec/json.h"
