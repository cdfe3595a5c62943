// simdjson for the C benchmark: a document of its own for each text, and its text again.
#include <simdjson.h>

#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
void *simdjson_shim_parse(const char *p, size_t n);
size_t simdjson_shim_write(void *doc);
void simdjson_shim_free(void *doc);
}

struct shim_doc {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
};

void *simdjson_shim_parse(const char *p, size_t n) {
    auto *doc = new shim_doc;
    if (doc->parser.parse(p, n).get(doc->root) == simdjson::SUCCESS)
        return doc;
    delete doc;
    return nullptr;
}

size_t simdjson_shim_write(void *doc) {
    std::string out = simdjson::minify(static_cast<shim_doc *>(doc)->root);
    return out.size();
}

void simdjson_shim_free(void *doc) {
    delete static_cast<shim_doc *>(doc);
}
