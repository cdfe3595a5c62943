#include "api/api_int.h"
