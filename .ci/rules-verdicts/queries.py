# SPDX-License-Identifier: Apache-2.0
"""Queries and conditions of `allow list`."""

D = "resource.data."
NAN = {"$double": "NaN"}

CONDITION_DIFFERENCES = {
    "math.isInfinite(1.0 / 0.0)": "documented for Cloud Firestore; the emulator has math.isInfinity instead",
    "'a'.matches('\\\\p{Greek}')": "patterns know no scripts of Unicode, and say so",
}

LEFT_OPEN = ("a query says nothing of this, so that documents may be found for which the condition is false; "
             "the emulator takes what is not in the query for missing")

TWINS = ("a query for 3 finds 3.0 as well, and the other way round, for which the condition is false; the emulator takes "
         "what is found for the value that is looked for")
DIFF_OF_TWINS = "true of all that the query finds, 1.0 as well; what follows of both is not looked for in differences of maps"


def cases():
    wheres = [
        None, [["n", "==", 3]], [["n", ">", 5]], [["n", ">=", 3]], [["n", "<", 2]], [["n", "<=", 2]], [["n", "==", 3.0]],
        [["n", "!=", 4]], [["n", "in", [3, 5]]], [["n", "==", None]], [["n", "==", NAN]], [["n", "!=", None]],
        [["n", "!=", NAN]], [["n", "not-in", [4, 7]]], [["n", ">", 5], ["n", "<", 10]], [["n", "==", 3], ["n", "==", 4]],
        [["n", "==", 3], ["n", ">", 5]], [{"or": [["n", "==", 3], ["n", "==", 4]]}],
        [{"or": [["n", "==", 3], ["s", "==", "hello"]]}], [["n", ">", "a"]],
    ]
    conditions = [
        D + "n == 3", D + "n != 4", D + "n > 2", D + "n >= 3", D + "n < 10", D + "n is int", D + "n is number",
        D + "n is float", D + "n != null", D + "n == null", D + "n + 1 == 4", D + "n in [3, 5]", "'n' in resource.data",
        D + "get('n', 3) == 3", "!(" + D + "n > 2)", "!(" + D + "n < 2)", "3 == " + D + "n", "2 < " + D + "n",
        D + "n == 3 || " + D + "n > 4", D + "n is constraint", "resource.data.keys().hasAny(['n'])",
        "resource.data is map", D + "n == 4 || true", D + "n > 4 || " + D + "n <= 4",
        D + "n == 3 || " + D + "s == 'hello'", D + "n != 'a'", D + "n > 5.0", D + "n != 12",
        "!('n' in resource.data)", "resource.data.keys().size() == 0", D + "n > 'A'",
    ]
    for where in wheres:
        for condition in conditions:
            case = {"condition": condition}
            if where:
                case["query"] = {"where": where}
            reason = difference(condition, where)
            if reason:
                case["differs"] = reason
            yield case
    yield from arrays()
    yield from maps()
    yield from names()
    yield from shapes()


def difference(condition, where):
    # As texts: Python takes 3 and 3.0 for the same.
    twins = {
        str([["n", "==", 3]]): ["n is int", "n in [3, 5]"], str([["n", "==", 3.0]]): ["n is float"],
        str([["n", "in", [3, 5]]]): ["n is int", "n in [3, 5]"],
        str([{"or": [["n", "==", 3], ["n", "==", 4]]}]): ["n is int"],
    }
    if condition in [D + rest for rest in twins.get(str(where), [])]:
        return TWINS
    fields = set() if where is None else {c[0] for w in where for c in (w["or"] if isinstance(w, dict) else [w])}
    if ("n" not in fields or "s" in fields) and condition in (
            D + "get('n', 3) == 3", "!('n' in resource.data)", "resource.data.keys().size() == 0"):
        return LEFT_OPEN if "n" not in fields or "get" in condition else None
    return None


def arrays():
    for where in [["l", "array-contains", "x"], ["l", "array-contains-any", ["x", "y"]], ["l", "==", ["x"]],
                  ["l", ">", ["a"]]]:
        for condition in ["'x' in " + D + "l", "'y' in " + D + "l", D + "l.hasAny(['x', 'y'])", D + "l.hasAny(['x'])",
                          D + "l.hasAll(['x'])", D + "l.hasOnly(['x'])", D + "l.size() > 0", D + "l is list",
                          D + "l[0] == 'x'", D + "l != null", D + "l == ['x']",
                          "'x' in " + D + "l || 'y' in " + D + "l", "!('z' in " + D + "l)"]:
            yield {"condition": condition, "query": {"where": [where]}}


def maps():
    for where in [["m.a", "==", 1], ["m.a", ">", 0], ["m", "==", {"a": 1}]]:
        for condition in [D + "m.a == 1", D + "m is map", D + "m.get('a', 0) == 1", "'m' in resource.data",
                          "'a' in " + D + "m", D + "m['a'] == 1", D + "m.keys().hasAll(['a'])", D + "m.size() == 1",
                          D + "m == {'a': 1}", D + "m.b == 1", "resource.data.get(['m', 'a'], 0) == 1",
                          D + "m.diff({'a': 1}).affectedKeys().size() == 0"]:
            case = {"condition": condition, "query": {"where": [where]}}
            if where[0] == "m.a" and condition in (D + "m.size() == 1", D + "m == {'a': 1}",
                                                   D + "m.diff({'a': 1}).affectedKeys().size() == 0"):
                if where[1] == "==" or "size() == 1" in condition:
                    case["differs"] = LEFT_OPEN
            if where[0] == "m" and condition == D + "m == {'a': 1}":
                case["differs"] = TWINS
            if where[0] == "m" and "diff" in condition:
                case["differs"] = DIFF_OF_TWINS
            yield case


def names():
    for where in [["__name__", "==", {"$ref": "e/d"}], ["__name__", "in", [{"$ref": "e/d"}, {"$ref": "e/f"}]],
                  ["__name__", ">", {"$ref": "e/c"}], ["r", "==", {"$ref": "e/d"}]]:
        for condition in ["id == 'd'", "id in ['d', 'f']", "resource.id == 'd'",
                          "resource.__name__ == /databases/$(database)/documents/e/d", "id > 'b'",
                          "resource.id != null", "id != 'a'", D + "n == 3", "resource.data is map",
                          "request.path == /databases/(default)/documents/e/d",
                          D + "r == /databases/(default)/documents/e/d", D + "r is path", "id is string",
                          "get(/databases/$(database)/documents/e/$(id)).data.n == 3",
                          "exists(/databases/$(database)/documents/e/$(id))"]:
            yield {"condition": condition, "query": {"where": [where]}}


def shapes():
    for query in [None, {"orderBy": ["n"], "limit": 5, "offset": 2}, {"orderBy": ["-m.a"], "limit": 1}]:
        for condition in ["request.query.limit == null", "request.query.limit <= 5", "request.query.offset == 0",
                          "request.query.orderBy.n == 'ASC'", "request.query.orderBy == {}",
                          "request.query.orderBy['m.a'] == 'DESC'", "request.query is map",
                          D + "n != null", "'n' in resource.data", "resource == null", "resource.id == 'x'",
                          "id == 'd'", "id is constraint", "request.resource == null", "request.method == 'list'",
                          "request.path == /databases/(default)/documents/e", "database == '(default)'",
                          "request.auth.uid == 'u1'", "request.time is timestamp", "resource is map",
                          "get(/databases/$(database)/documents/adm/$(request.auth.uid)).data.role == 'admin'",
                          "exists(/databases/$(database)/documents/adm/none)",
                          "get(/databases/$(database)/documents/adm/$(resource.data.s)).data.role == 'x'",
                          "get(/databases/$(database)/documents/e/$(id)).data.n == 3", "request.query.limit == 1"]:
            case = {"condition": condition}
            if query:
                case["query"] = query
            yield case
