// Without this file Go would not accept functions that have no body here; see linkname.
