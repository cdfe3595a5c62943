#include "api/b.h"
#include "codec/codec_int.h"
