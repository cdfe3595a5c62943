// RE2 behind a few C functions: the only C++ here. Go's regexp package is RE2's sibling; where
// their error texts differ, Go's are given.
#include <re2/re2.h>

extern "C" {
#include "base/limits.h"
#include "cel/kit/regex_int.h"
}

struct cel_regex {
    re2::RE2 re;
    cel_regex(const re2::StringPiece &pattern, const re2::RE2::Options &options)
        : re(pattern, options) {
    }
};

static const struct {
    re2::RE2::ErrorCode code;
    const char *text;
} words[] = {
    {re2::RE2::ErrorBadEscape, CEL_REGEX_BAD_ESCAPE},
    {re2::RE2::ErrorBadCharClass, "invalid character class"},
    {re2::RE2::ErrorBadCharRange, "invalid character class range"},
    {re2::RE2::ErrorMissingBracket, "missing closing ]"},
    {re2::RE2::ErrorMissingParen, "missing closing )"},
    {re2::RE2::ErrorUnexpectedParen, "unexpected )"},
    {re2::RE2::ErrorTrailingBackslash, "trailing backslash at end of expression"},
    {re2::RE2::ErrorRepeatArgument, "missing argument to repetition operator"},
    {re2::RE2::ErrorRepeatSize, "invalid repeat count"},
    {re2::RE2::ErrorRepeatOp, "invalid nested repetition operator"},
    {re2::RE2::ErrorBadPerlOp, "invalid or unsupported Perl syntax"},
    {re2::RE2::ErrorBadUTF8, "invalid UTF-8"},
    {re2::RE2::ErrorBadNamedCapture, "invalid named capture"},
};

static const char *go_code(re2::RE2::ErrorCode code) {
    for (const auto &w : words)
        if (w.code == code)
            return w.text;
    return CEL_REGEX_TOO_LARGE;
}

struct cel_regex *cel__regex_compile(const char *pattern, size_t n, struct cel_regex_error *error) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(LIMIT_CEL_REGEX_BYTES);
    cel_regex *re = new cel_regex(re2::StringPiece(pattern, n), options);
    if (re->re.ok())
        return re;
    error->code = go_code(re->re.error_code());
    const std::string &arg = re->re.error_arg();
    error->n = arg.copy(error->piece, sizeof error->piece);
    delete re;
    return nullptr;
}

size_t cel__regex_steps(const struct cel_regex *re) {
    return static_cast<size_t>(re->re.ProgramSize());
}

void cel__regex_delete(struct cel_regex *re) {
    delete re;
}

bool cel__regex_search(const struct cel_regex *re, const char *text, size_t n, size_t from,
                       size_t bounds[2]) {
    re2::StringPiece whole(text, n), match;
    if (!re->re.Match(whole, from, n, re2::RE2::UNANCHORED, bounds ? &match : nullptr,
                      bounds ? 1 : 0))
        return false;
    if (bounds) {
        bounds[0] = static_cast<size_t>(match.data() - text);
        bounds[1] = bounds[0] + match.size();
    }
    return true;
}
