#include "base/str.h"
#include "codec/codec_int.h"
#include "cmd/cmd.h"
