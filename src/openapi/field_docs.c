/* What fields mean, in a line each: the tables of src/api/schema/docs. */
#include <string.h>

#include "openapi/openapi_int.h"

/* Lines about fields that mean the same wherever they stand. */
enum { ANYWHERE = API_TYPES };

struct line {
    int type;         /* enum api_type_id, or ANYWHERE */
    const char *json; /* name of a field; NULL: the line is about the type */
    const char *text;
};

static const struct line lines[] = {
#define API_T_ANYWHERE       ANYWHERE
#define TYPE(name, doc)      {API_T_##name, NULL, doc},
#define DOC(name, json, doc) {API_T_##name, json, doc},
#include "api/schema/docs/all.def"
#undef TYPE
#undef DOC
};

enum { LINE_COUNT = sizeof lines / sizeof *lines };

static const char *find(int type, const char *json) {
    for (size_t i = 0; i < LINE_COUNT; i++)
        if (lines[i].type == type &&
            (json && lines[i].json ? strcmp(lines[i].json, json) == 0 : !json && !lines[i].json))
            return lines[i].text;
    return NULL;
}

struct str openapi_doc(const struct api_type *type, const struct api_field *field) {
    const char *json = field ? field->json.p : NULL;
    const char *text = find(type->id, json);
    if (!text && field)
        text = find(ANYWHERE, json);
    return str_of(text ? text : "");
}
