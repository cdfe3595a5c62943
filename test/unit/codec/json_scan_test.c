#include "json_scan_cases.h"
