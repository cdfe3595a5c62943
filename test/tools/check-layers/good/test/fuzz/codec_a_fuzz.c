#include "codec/codec_int.h"
