#define JSON_SCAN_PORTABLE 1
#include "json_scan_cases.h"
