# SPDX-License-Identifier: Apache-2.0
"""Whole rulesets, and requests of every method."""

BASICS = """function signedIn() { return request.auth != null; }
match /pub/{id} {
  allow read;
  allow create: if request.resource.data.keys().hasOnly(['x']) && request.resource.data.x is int;
  allow update: if request.resource.data.x > resource.data.x;
  allow delete: if false;
}
match /own/{id} {
  allow get, list: if signedIn() && resource.data.owner == request.auth.uid;
  allow write: if signedIn() && request.auth.uid == id
    && get(/databases/$(database)/documents/adm/z).data.x == 1;
}
match /grp/{doc=**} { allow read: if exists(/databases/$(database)/documents/adm/z); }
match /lim/{id} { allow list: if request.query.limit <= 10; }
match /err/{id} { allow read: if resource.data.nope == 1; }"""
STORED = {"pub/a": {"x": 1}, "own/u1": {"owner": "u1", "x": 1}, "own/u2": {"owner": "u2", "x": 1}, "adm/z": {"x": 1}}


def basics():
    def case(method, path, user="u1", **more):
        return dict({"match": BASICS, "stored": STORED, "method": method, "path": path, "user": user}, **more)

    for user in (None, "u1"):
        for path in ("pub/a", "own/u1", "own/u2", "own/missing", "zz/a", "grp/a", "grp/a/b/c", "err/a", "pub/a/sub/b"):
            yield case("get", path, user)
        for path in ("pub", "own", "lim", "zz", "grp", "pub/a/sub"):
            yield case("list", path, user)
    for owner in ("u1", "u2"):
        yield case("list", "own", query={"where": [["owner", "==", owner]]})
    for limit in (5, 10, 11):
        yield case("list", "lim", query={"limit": limit})
    yield case("list", "", query={"group": "own"})
    for user in (None, "u1"):
        yield case("create", "pub/n1", user, data={"x": 1})
        yield case("create", "pub/n1", user, data={"x": 1, "y": 2})
        yield case("create", "pub/n1", user, data={"x": "1"})
        yield case("create", "pub/n1", user, data={})
        yield case("update", "pub/a", user, data={"x": 5})
        yield case("update", "pub/a", user, data={"x": 1})
        yield case("update", "pub/a", user, data={})
        yield case("delete", "pub/a", user)
        yield case("update", "own/u1", user, data={"owner": "u1", "x": 2})
        yield case("update", "own/u2", user, data={"owner": "u1", "x": 2})
        yield case("create", "own/u3", user, data={"owner": "u1"})
        yield case("delete", "own/u1", user)
        yield case("delete", "own/u2", user)


def writes():
    stored = {"w/a": {"x": 1, "y": 2}}

    def case(rule, method, path, version=2, **more):
        body = {"match": rule, "stored": stored, "method": method, "path": path}
        if version == 1:
            body["version"] = 1
        return dict(body, **more)

    for condition in ["request.resource.data.diff(resource.data).affectedKeys().hasOnly(['x'])",
                      "request.resource.data.keys().hasOnly(['x', 'y']) && request.resource.data.y == 2",
                      "resource.data.x == 1", "resource == null", "resource != null", "request.resource == null",
                      "request.resource.id == 'a'", "request.resource.__name__ == request.path",
                      "resource.__name__ == request.path", "request.method == 'update'", "request.method == 'write'",
                      "'query' in request", "'resource' in request", "request.resource.data == resource.data",
                      "getAfter(/databases/$(database)/documents/w/a).data == request.resource.data",
                      "getAfter(request.path).data.x == 7", "get(request.path).data.x == 1",
                      "get(request.path).data == resource.data", "existsAfter(request.path)", "exists(request.path)",
                      "request.resource.data.x > resource.data.x", "request.resource is map",
                      "request.resource.data is map", "resource.data.keys() == ['x', 'y']"]:
        rule = "match /w/{id} { allow write: if %s; }" % condition
        yield case(rule, "update", "w/a", data={"x": 7, "y": 2})
        yield case(rule, "update", "w/a", data={"x": 7, "y": 2, "z": [1]})
        yield case(rule, "create", "w/b", data={"x": 7, "y": 2})
        yield case(rule, "delete", "w/a")
    for rule in ("allow update; allow create: if false;", "allow create; allow update: if false;",
                 "allow delete; allow create, update: if false;"):
        yield case("match /w/{id} { %s }" % rule, "create", "w/b", data={"x": 7})
        yield case("match /w/{id} { %s }" % rule, "update", "w/a", data={"x": 7})
        yield case("match /w/{id} { %s }" % rule, "delete", "w/a")
    both = "match /w/{id} { allow create: if %s; } match /o/{id} { allow write; }"
    yield case(both % "existsAfter(/databases/$(database)/documents/o/p)", "create", "w/n", data={"x": 1},
               after={"o/p": {"x": 1}})
    yield case(both % "existsAfter(/databases/$(database)/documents/o/p)", "create", "w/n", data={"x": 1})
    yield case(both % "exists(/databases/$(database)/documents/o/p)", "create", "w/n", data={"x": 1},
               after={"o/p": {"x": 1}})
    yield case(both % "getAfter(/databases/$(database)/documents/o/p).data.x == 5", "create", "w/n", data={"x": 1},
               after={"o/p": {"x": 5}})
    yield case(both % "getAfter(/databases/$(database)/documents/o/p).data.x == 5", "create", "w/n", data={"x": 1},
               after={"o/p": {"x": 6}})
    yield case(both % "!existsAfter(/databases/$(database)/documents/w/a)", "create", "w/n", data={"x": 1},
               after={"o/p": None})


def paths():
    stored = {"w/a/sub/s1": {"x": 1}, "q/q1": {"x": 1}, "q/q1/z/z1": {"x": 1}, "z/z1": {"x": 1}, "a/b/c/d/e/f": {"x": 1}}
    rules = ["match /w/{id} { allow read; }", "match /w/{id} { match /sub/{s} { allow read: if id == 'a' && s == 's1'; } }",
             "match /w/{rest=**} { allow read: if rest[0] == 'a'; }",
             "match /w/{rest=**} { allow read: if rest == /a/sub/s1; }",
             "match /w/{rest=**} { allow read: if rest is path; }",
             "match /{doc=**} { allow read; }", "match /{doc=**} { allow read: if doc[0] == 'q'; }",
             "match /q/{doc=**}/z/{z} { allow read; }", "match /{p=**}/z/{z} { allow read; }",
             "match /{p=**}/z/{z} { allow read: if p == /q/q1; }", "match /{p=**}/z/{z} { allow read: if z == 'z1'; }",
             "match /z/{z} { allow read; }", "match /q/q1 { allow read; }", "match /q/{id}/{c}/{d} { allow read: if c == 'z'; }",
             "match /q/{id}/{rest=**} { allow read; }", "match /q/{id} { match /{rest=**} { allow read; } }",
             "match /q/{id} { allow get; match /z/{z} { allow list: if id == 'q1'; } }",
             "match /a/{b}/c/{d}/e/{f} { allow read: if b == 'b' && d == 'd' && f == 'f'; }",
             "match /a/{b}/{rest=**}/e/{f} { allow read; }", "match /{a}/{b} { allow read: if a == 'q'; }",
             "match /{a}/{b} { match /{a}/{b} { allow read: if a == 'z' && b == 'z1'; } }",
             "match /w/{id} { function f() { return id == 'a'; } match /sub/{s} { allow read: if f(); } }",
             "function f() { return true; } match /w/{id} { function f() { return false; } match /sub/{s} { allow read: if f(); } } match /q/{id} { allow read: if f(); }",
             "match /q/{id} { function f(database) { return database == id; } allow read: if f('q1'); }",
             "match /q/{request} { allow read: if request == 'q1'; }",
             "match /q/{id} { allow foo: if true; }", "match /q/{id} { allow read, foo; }",
             "match /q/{id} { allow get: if true; allow list: if false; }",
             "match /q/{id} { allow read: if 1; }", "match /q/{id} { allow read: if null; }",
             "match /q/{id} { allow read: if nope.x == 1; allow read: if true; }",
             "match /q/{id=*} { allow read; }"]
    for version in (2, 1):
        for rule in rules:
            for path in ("w/a/sub/s1", "q/q1", "q/q1/z/z1", "z/z1", "a/b/c/d/e/f"):
                case = {"match": rule, "stored": stored, "method": "get", "path": path}
                if version == 1:
                    case["version"] = 1
                yield case
            for path, query in (("q", None), ("q/q1/z", None), ("z", None), ("", {"group": "z"}), ("q/q1", {"group": "z"}),
                                ("", {"group": "e"}), ("a/b", {"group": "e"})):
                case = {"match": rule, "stored": stored, "method": "list", "path": path}
                if query:
                    case["query"] = query
                if version == 1:
                    case["version"] = 1
                yield case


def limits():
    document = {"e/d": {"n": 3}, "adm/u1": {"x": 1}}

    def case(condition, functions="", **more):
        return dict({"condition": condition, "functions": functions, "stored": document, "method": "get", "path": "e/d"}, **more)

    for count in (98, 99, 100, 101):
        yield case(" && ".join(["true"] * count))
        yield case("+".join(["1"] * count) + " > 0")
        yield case("(" * count + "true" + ")" * count)
    for count in (49, 50):
        yield case("!!" * count + "true")
    for count in (990, 995, 996, 997, 1100):
        yield case("[" + ",".join(["1"] * count) + "].size() > 0")
    yield case("[" + ",".join(["1"] * 1100) + "].size() > 0 || true")
    for count in (9, 10, 11):
        yield case(" && ".join("!exists(/databases/$(database)/documents/adm/x%d)" % i for i in range(count)))
        yield case(" || ".join("exists(/databases/$(database)/documents/adm/x%d)" % i for i in range(count)) + " || true")
    yield case(" && ".join(["exists(/databases/$(database)/documents/adm/u1)"] * 30))
    yield case(" && ".join("get(/databases/$(database)/documents/adm/u1).data.x == 1" for _ in range(20)))
    for count in (5, 19, 20, 21, 22):
        chain = "".join("function c%d() { return c%d(); } " % (i, i + 1) for i in range(count - 1))
        yield case("c0()", chain + "function c%d() { return true; }" % (count - 1))
    for count in (7, 8):
        names = ",".join("a%d" % i for i in range(count))
        yield case("f(%s)" % ",".join(["1"] * count), "function f(%s) { return true; }" % names)
    for count in (10, 12):
        lets = "".join("let a%d = 1; " % i for i in range(count))
        yield case("f()", "function f() { %s return true; }" % lets)
    yield case("f()", "function f() { %s return true; }" % "".join("let a%d = 1; " % i for i in range(11)),
               differs="ten let bindings are the documented limit; the emulator accepts eleven")
    for count in (1, 9, 10, 11):
        yield dict(case("true"), match="match /a/{b} {" * count + " allow read; " + "}" * count)
    for count in (90, 97, 98, 110):
        yield dict(case("true"), match="match " + "/a" * count + " { allow read; }")


def syntax():
    whole = ["", "service cloud.firestore {}", "service cloud.firestore { match /x { allow read if; } }",
             "rules_version = '3'; service cloud.firestore { match /a/{b} { allow read; } }",
             "rules_version = 2; service cloud.firestore { match /a/{b} { allow read; } }",
             "rules_version='2' service cloud.firestore { match /a/{b} { allow read; } }",
             "service cloud.firestore { match databases { allow read; } }", "service cloud.firestore { match /a/ { allow read; } }",
             "service cloud.firestore { match /a//b { allow read; } }", "service cloud.firestore { match /a/{x}/b{y} { allow read; } }",
             "service cloud.firestore { allow read; }", "hello",
             "service cloud.firestore { match /a/{x} { allow read; } } service cloud.firestore { match /a/{x} { allow read; } }",
             "service cloud.firestore { match /a/{x} { allow read, read; } } }", "service cloud.firestore { match /a/{x} { allow read; } ",
             "service cloud.firestore { function f() { return true; } match /a/{x} { allow read: if f(); } /* x",
             "service cloud.firestore { match /a/{x} { allow read: if ; } } //",
             "function f() { return true; } service cloud.firestore { match /databases/{d}/documents/e/{x} { allow read: if f(); } }",
             "service cloud.firestore { match /databases/{d}/documents/e/{x} { allow read: if f(); } function f() { return true; } }",
             "// a comment\nservice cloud.firestore { /* another */ match /databases/{d}/documents/e/{x} { allow read; } }"]
    for rules in whole:
        yield {"rules": rules, "method": "get", "path": "e/d", "stored": {"e/d": {}}}
    inner = ["match /e/{x} { }", "match /e/{x} { allow read }", "match /e/{x} { allow read: if true }",
             "match /e/{x} { allow read: true; }", "match /e/{x} { allow read if true; }", "match /e/{x} { allow: if true; }",
             "match /e/{x} { allow read:; }", "match /e/{x} { allow read; allow write; }", "match /e/{x}{ allow read; }",
             "match /e/{x} { allow read: if 'abc; }", "match /e/{x} { allow read: if 1.e == 2; }",
             "match /e/{x} { allow read: if 1 < 2 < 3; }", "match /e/{x} { allow read: if 99999999999999999999 == 2; }",
             "match /e/{x} { allow read: if 'x' is foo; }", "match /e/{x} { allow read: if (true; }",
             "match /e/{x} { allow read: if [1, 2; }", "match /e/{x} { allow read: if true true; }",
             "match /e/{x} { allow read: if true &&; }", "match /e/{x} { allow read: if a.b.; }",
             "match /e/{x} { allow read: if true; }}", "match /e/{x}/{x} { allow read; }", "match /e/{x=**}/b { allow read; }",
             "match /{x=**}/e/{y=**} { allow read; }", "match e/{x} { allow read; }", "match /e/{x} allow read;",
             "function f() { return true } match /e/{x} { allow read: if f(); }",
             "function f() { let a = 1 let b = 2; return true; } match /e/{x} { allow read: if f(); }",
             "function f() { 1 } match /e/{x} { allow read: if f(); }", "function f() { } match /e/{x} { allow read: if f(); }",
             "function f(a) { return f(a); } match /e/{x} { allow read: if f(1); }",
             "function f(a) { return g(a); } function g(a) { return f(a); } match /e/{x} { allow read: if f(1); }",
             "function f(a) { return true; } match /e/{x} { allow read: if f(); }",
             "function f(a) { return true; } match /e/{x} { allow read: if f(1, 2); }",
             "function f() { return true; } function f() { return false; } match /e/{x} { allow read: if f(); }",
             "function f(a, a) { return true; } match /e/{x} { allow read: if f(1, 2); }",
             "function f() { let a = 1; let a = 2; return a == 2; } match /e/{x} { allow read: if f(); }",
             "function f(a) { let a = 2; return a == 2; } match /e/{x} { allow read: if f(1); }",
             "function f() { let b = a; let a = 2; return b == 2; } match /e/{x} { allow read: if f(); }",
             "function exists(a) { return true; } match /e/{x} { allow read: if exists(1); }",
             "function math() { return true; } match /e/{x} { allow read: if math(); }",
             "function f() { return true; } match /e/{f} { allow read: if f(); }",
             "match /e/{x} { allow read: if x == 'd' /* c */ && // d\n true; }",
             "match /e/{x} { allow read: if let == 1; }", "match /e/{x} { allow read: if match == 1 || true; }",
             "match /e/{x} { allow read: if allow == 1 || true; }", "match /e/{x} { allow read: if return == 1 || true; }",
             "match /e/{x} { allow read: if service == 1 || true; }", "match /e/{x} { allow read: if is == 1 || true; }",
             "match /e/{x} { allow read: if function == 1 || true; }", "match /e/{x} { allow read: if import == 1 || true; }",
             "match /e/{if} { allow read; }", "match /e/{match} { allow read; }", "match /e/{_x1} { allow read: if _x1 == 'd'; }",
             "match /e/{1x} { allow read; }", "match /e/{x } { allow read; }", "match /e/{ x} { allow read; }",
             "match /e/{x = **} { allow read; }", "match /e/{x=***} { allow read; }", "match /e/(d) { allow read; }",
             "match /e/d { allow read; }", "match /e/* { allow read; }", "match /e/** { allow read; }",
             "match /e/$(x) { allow read; }", "match /e/{x} { allow read: if math.abs(1; }",
             "match /e/{x} { allow read: if request . auth . uid == 'u1'; }",
             "match /e/{x} { allow read: if request.auth.uid==\"u1\"; }", "match /e/{x} { allow read: if a ? b; }",
             "match /e/{x} { allow read: if request.auth.if == 1 || true; }", "match /e/{x} { allow read: if {'a' 1}.a == 1; }",
             "match /e/{x} { allow read: if /e/d/ == 1 || true; }", "match /e/{x} { allow read: if 'a'['b' == 1; }",
             "match /e/{x} { allow read: if [1,2,3][:2].size() == 2; }", "match /e/{x} { allow read: if [1,2,3][:].size() == 3; }",
             "match /e/{x} { allow read: if true; allow read: if 1 / 0 == 1; }",
             "match /e/{x} { allow read: if 1 / 0 == 1; allow read: if true; }", "match /e/{x} { ; allow read; }"]
    for version in (2, 1):
        for match in inner:
            case = {"match": match, "method": "get", "path": "e/d", "stored": {"e/d": {}}}
            if version == 1:
                case["version"] = 1
            yield case


def cases():
    for group in (basics, writes, paths, limits, syntax):
        yield from group()
