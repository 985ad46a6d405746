# SPDX-License-Identifier: Apache-2.0
"""Requests of REST (v1), and those of an emulator's control."""
import json, urllib.parse

from answers import DATABASE, PAGE, ROOT
from channel import channel

VALUES = r"""
{"nullValue": null} | {"nullValue": "NULL_VALUE"} | {"booleanValue": true} | ?{"booleanValue": "true"} | {"booleanValue": 1}
{"integerValue": "7"} | {"integerValue": 7} | {"integerValue": 1e3} | {"integerValue": 1.5} | {"integerValue": "x"}
{"integerValue": "9223372036854775807"} | {"integerValue": "-9223372036854775808"} | {"integerValue": "9223372036854775808"}
{"doubleValue": 1.5} | {"doubleValue": 2} | {"doubleValue": "1.25"} | {"doubleValue": "NaN"} | {"doubleValue": "Infinity"}
{"doubleValue": "-Infinity"} | {"doubleValue": -0.0} | {"doubleValue": 1e300} | {"doubleValue": 5e-324} | {"doubleValue": 1e400}
{"doubleValue": 0.1} | {"doubleValue": 123456789012345680} | {"doubleValue": "x"} | {"timestampValue": "2001-02-03T04:05:06Z"}
{"timestampValue": "2001-02-03T04:05:06.123456Z"} | {"timestampValue": "2001-02-03T04:05:06.123456789Z"}
{"timestampValue": "2001-02-03T04:05:06.120Z"} | {"timestampValue": "2001-02-03T04:05:06+02:00"} | {"timestampValue": "x"}
{"timestampValue": "0001-01-01T00:00:00Z"} | {"timestampValue": "9999-12-31T23:59:59.999999999Z"} | {"stringValue": ""}
{"stringValue": "é 😀 \u2028 \" \\ \n"} | ?{"stringValue": 5} | ?{"stringValue": "\ud800"} | {"stringValue": null}
{"bytesValue": "AP8="} | {"bytesValue": "AP8"} | {"bytesValue": "-_8="} | {"bytesValue": ""} | {"bytesValue": "*"}
{"referenceValue": "ROOT/c/a"} | {"referenceValue": "projects/o/databases/d/documents/c/a"} | {"referenceValue": "c/a"}
{"geoPointValue": {"latitude": 1.5, "longitude": -2}} | {"geoPointValue": {}} | {"geoPointValue": {"latitude": 91}}
{"arrayValue": {"values": [{"integerValue": "1"}, {"stringValue": "x"}]}} | {"arrayValue": {}} | {"arrayValue": {"values": []}}
{"arrayValue": {"values": [{"arrayValue": {}}]}} | {"arrayValue": {"values": [{"mapValue": {}}]}} | {"arrayValue": 5}
{"arrayValue": {"values": [{}]}} | {"mapValue": {}} | {"mapValue": {"fields": {}}} | {"mapValue": {"fields": {"": {}}}}
{"mapValue": {"fields": {"": {"integerValue": "1"}}}} | {"mapValue": {"fields": {"__a__": {"integerValue": "1"}}}}
{"mapValue": {"fields": {"a": {"integerValue": "1"}, "b": {"mapValue": {"fields": {"c": {"stringValue": "x"}}}}}}}
{"mapValue": {"fields": {"__type__": {"stringValue": "__vector__"}, "value": {"arrayValue": {"values": [{"doubleValue": 1}]}}}}}
{} | {"integerValue": "1", "stringValue": "x"} | {"wrongValue": 1} | 5 | null | ?{"integerValue": "1", "integerValue": "2"}
"""

def string(text):
    return {"stringValue": text}


def integer(number):
    return {"integerValue": str(number)}


def array(*values):
    return {"arrayValue": {"values": list(values)} if values else {}}


def mapping(**fields):
    return {"mapValue": {"fields": fields} if fields else {}}


def named(path, **fields):
    return {"name": f"{ROOT}/{path}", "fields": fields}


def update(path, **fields):
    return {"update": named(path, **fields)}


def documents(t):
    a, empty = {"fields": {"n": integer(1), "s": string("x")}}, {"fields": {}}
    for path in ("c?documentId=a", "c?documentId=a", "auto", "c?documentId=m&mask.fieldPaths=n", "c/a/sub?documentId=s",
                 "c/gone/sub?documentId=s", "c/a?documentId=x", "c?documentId=%C3%A9%20%2B", "c?documentId=b&key=AIza",
                 "c?documentId=..", "c?documentId=__x__", "c?documentId=a%2Fb", "c?documentId=" + "x" * 1501):
        t.ask("POST", path, a)
    t.ask("POST", "c?documentId=no-body")
    t.ask("POST", "c?documentId=nm", {"name": f"{ROOT}/c/zzz", "fields": {}})
    for headers in ({}, {"who": "nobody"}, {"Origin": PAGE}, {"Origin": "https://evil.example"}):
        t.each("GET", "c/a", "c/zz", **headers)
    t.each("GET", "c/%C3%A9%20%2B", "c/a?key=AIza&alt=json&prettyPrint=false", "c/a?mask.fieldPaths=n",
           "c/a?mask.fieldPaths=n&mask.fieldPaths=s", "c/a?mask.fieldPaths=zz", "c/a?mask.fieldPaths=a..b", "c/a?wrong=1",
           "c/a?transaction=AAAA", "c/a?transaction=*", "c/a?readTime=yesterday", "c/a?readTime=2001-01-01T00:00:00Z",
           "c/__a__", "c//a", "c/a/", "", f"/v1/{DATABASE}", f"/v2/{ROOT}/c/a", "/nothing",
           f"/v1/{ROOT.replace('(', '%28').replace(')', '%29')}/c/a",
           "/v1/projects/demo-traces/databases/other/documents/c/a")
    t.ask("HEAD", "c/a")
    t.ask("PUT", "c/a", a)
    t.each("GET", *("c" + query for query in (
        "", "?pageSize=2", "?pageSize=100", "?mask.fieldPaths=n", "?orderBy=n%20desc", "?orderBy=n,__name__%20desc",
        "?showMissing=true", "?showMissing=true&mask.fieldPaths=n", "?showMissing=true&orderBy=n", "?orderBy=n%20sideways",
        "?pageSize=x", "?pageSize=-1", "?pageToken=x", "?showMissing=maybe", "?mask.fieldPaths=a..b")), "none", "c/a/sub")
    page = {"nextPageToken": ""}
    while "nextPageToken" in page:
        page = t.ask("GET", "c?pageSize=3&pageToken=" + urllib.parse.quote(page["nextPageToken"], safe=""))
    mask, now = "?updateMask.fieldPaths=", "?currentDocument."
    t.ask("PATCH", "p/a", {"fields": {"n": integer(1), "m": mapping(a=integer(1), b=integer(2))}})
    for query, fields in (
            (mask + "n", {"n": integer(2), "s": string("not")}), (mask + "m.a", {"m": mapping(a=integer(5))}),
            (mask + "m.b&updateMask.fieldPaths=q", {"q": string("x")}), (mask + "%60a.b%60", {"a.b": integer(1)}),
            ("?mask.fieldPaths=q", {"q": string("y"), "r": integer(1)}), (mask + "a..b", {}), (mask + "__a__", {}),
            (now + "exists=true", {"n": integer(4)}), (now + "exists=false", {}), (now + "exists=maybe", {}),
            (now + "updateTime=yesterday", {}), (now + "updateTime=2001-01-01T00:00:00Z", {}),
            (now + "exists=true&currentDocument.updateTime=2001-01-01T00:00:00Z", {})):
        t.ask("PATCH", "p/a" + query, {"fields": fields})
    at = t.ask("GET", "p/a").get("updateTime", "")
    t.ask("PATCH", f"p/a{now}updateTime={at}", a)
    for path in (f"p/zz{now}exists=true", f"p/new{mask}n", "p"):
        t.ask("PATCH", path, empty)
    t.ask("PATCH", "p/a", {"name": f"{ROOT}/p/other", "fields": {}})
    for body in (None, "{", "hello", '{"fields": {},}', "[]", '"x"', "null", {"wrong": 1}, {"fields": 1},
                 '{"fields": {}, "fields": {}}', b'{"fields": {"a": {"stringValue": "\xff"}}}', {"createTime": 5},
                 {"fields": {"a": {"string_value": "x"}}}, {"createTime": "2001-01-01T00:00:00Z"}, "[" * 300 + "]" * 300):
        t.ask("PATCH", "p/body", body)
    for kind in ("text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "application/xml"):
        t.ask("PATCH", "p/kind", empty, Content_Type=kind)
    t.each("DELETE", "p/a", "p/a", f"p/a{now}exists=true", f"c/a{now}updateTime=2001-01-01T00:00:00Z",
           f"c/a{now}exists=maybe", "c", "c/a")


def values(t):
    for number, value in enumerate(VALUES.replace("ROOT", ROOT).strip().replace("\n", " | ").split(" | ")):
        # What one of the two may take is not there for the order of all.
        path, value = f"odd/{number:02}" if value[0] == "?" else f"v/{number:02}", value.lstrip("?")
        t.ask("PATCH", path, '{"fields": {"v": %s}}' % value)
        t.ask("GET", path)
        t.ask("POST", ":runQuery", '{"structuredQuery": {"where": {"fieldFilter": {"field": {"fieldPath": "v"}, '
              '"op": "EQUAL", "value": %s}}, "from": [{"collectionId": "v"}]}}' % value)
    query(t, "v", orderBy=[{"field": field("v")}], select={"fields": [field("__name__")]})


def field(path):
    return {"fieldPath": path}


def where(path, op, value):
    return {"fieldFilter": {"field": field(path), "op": op, "value": value}}


def query(t, collection, **more):
    return t.ask("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": collection}], **more}})


def writes(t):
    t.ask("PATCH", "c/a", {"fields": {}})
    a, at = update("w/a", n=integer(1)), {"updateTime": "2001-01-01T00:00:00Z"}

    def transform(*parts):
        return {"transform": {"document": f"{ROOT}/w/t", "fieldTransforms": [{"fieldPath": "f", **part} for part in parts]}}

    for write in (
            a, {**a, "currentDocument": {"exists": False}}, {**update("w/zz"), "currentDocument": {"exists": True}},
            {**a, "currentDocument": at}, {**a, "currentDocument": {}}, {"delete": f"{ROOT}/w/zz"}, {"delete": "x"},
            {"delete": f"{ROOT}/w/zz", "currentDocument": {"exists": True}}, {"verify": f"{ROOT}/w/a"},
            {"delete": f"{ROOT}/w/zz", "currentDocument": at}, {**a, "updateMask": {"fieldPaths": ["n", "gone"]}},
            {**a, "updateMask": {"fieldPaths": ["a..b"]}}, {**a, "updateMask": "n,gone"}, {**a, "updateMask": {}},
            {"verify": f"{ROOT}/w/a", "currentDocument": {"exists": True}}, {}, {**a, "delete": f"{ROOT}/w/a"}, {"wrong": 1},
            update("w"), update("w/__a__"), update("w/a", **{"": integer(1)}), update("w/a", __a__=integer(1)),
            {"update": {"name": "projects/o/databases/(default)/documents/c/a"}}, {"update": {"fields": {}}},
            transform({"setToServerValue": "REQUEST_TIME"}), transform({"setToServerValue": 1}), transform({}),
            transform({"setToServerValue": "WRONG"}), transform({"increment": integer(2)}),
            transform({"increment": {"doubleValue": 1.5}}), transform({"increment": string("x")}),
            transform({"maximum": integer(9)}), transform({"minimum": integer(3)}),
            transform({"appendMissingElements": {"values": [integer(1)]}}), transform({"removeAllFromArray": {}}), transform(),
            {**a, "updateTransforms": [{"fieldPath": "s", "setToServerValue": "REQUEST_TIME"}]}):
        t.ask("POST", ":commit", {"writes": [write]})
    t.each("GET", "w/a", "w/t")
    for name in ("batchGet", "batchWrite", "beginTransaction", "commit", "rollback", "runQuery", "runAggregationQuery",
                 "listCollectionIds", "partitionQuery"):
        for body in (None, {}, "{", "[]", {"wrong": 1}, "[" * 300):
            t.ask("POST", ":" + name, body)
        t.ask("POST", f"c:{name}", {})
        t.ask("GET", ":" + name)
    t.each("POST", ":listen", ":write", ":wrong", "c/a:wrong", f"/v1/{DATABASE}:commit")
    t.ask("POST", ":commit", {"writes": [a, update("w/c")]})
    t.ask("POST", ":commit", {"database": "projects/demo-traces/databases/other", "writes": [a]})
    t.ask("POST", ":commit", {"writes": [a] * 2 + [{**a, "currentDocument": {"exists": False}}]}, Content_Type="text/plain")
    t.ask("POST", ":batchWrite", {"writes": [a, {**update("w/zz"), "currentDocument": {"exists": True}},
                                             {"delete": f"{ROOT}/w/c"}, update("w/__a__")], "labels": {"k": "v"}})
    t.ask("POST", ":batchWrite", {"writes": [a, a]})
    for body in ({"documents": ["w/a"]}, {"documents": [f"{ROOT}/w"]}, {"documents": []}, {"newTransaction": {}},
                 {"documents": [f"{ROOT}/w/a", f"{ROOT}/w/zz", f"{ROOT}/w/a"], "mask": {"fieldPaths": ["n"]}},
                 {"documents": [f"{ROOT}/w/a"], "newTransaction": {"readOnly": {}}}, {"transaction": "AAAA"},
                 {"documents": [f"{ROOT}/w/a"], "readTime": "x"}, {"documents": f"{ROOT}/w/a"}):
        t.ask("POST", ":batchGet", body)


def transactions(t):
    t.ask("PATCH", "w/a", {"fields": {"n": integer(1)}})
    for options in ({}, {"readOnly": {}}, {"readWrite": {}}, {"readOnly": {"readTime": "x"}}, {"wrong": {}},
                    {"readWrite": {"retryTransaction": "AAAA"}}):
        begun = t.ask("POST", ":beginTransaction", {"options": options}).get("transaction", "")
        mine = {"transaction": begun}
        if not options:
            t.ask("GET", "w/a?transaction=" + urllib.parse.quote(begun, safe=""))
        if not begun:
            continue
        t.ask("POST", ":batchGet", {"documents": [f"{ROOT}/w/a"], **mine})
        t.ask("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": "w"}]}, **mine})
        t.ask("POST", ":commit", {"writes": [update("w/tx", n=integer(1))], **mine})
        for name in ("commit", "rollback"):
            t.ask("POST", ":" + name, mine)
    mine = t.ask("POST", ":beginTransaction").get("transaction", "")
    for name in ("rollback", "rollback", "commit"):
        t.ask("POST", ":" + name, {"transaction": mine})
    for bad in ("AAAA", "*", 5):
        for name in ("rollback", "commit"):
            t.ask("POST", ":" + name, {"transaction": bad})


def queries(t):
    for path in ("c/a", "c/a/sub/s", "c/gone/sub/s"):
        t.ask("PATCH", path, {"fields": {"n": integer(1)}})
    for n in range(5):
        t.ask("PATCH", f"q/d{n}", {"fields": {"n": integer(n), "a": array(integer(n), string("x")), "g": string("g%d" % (n % 2)),
                                              "d": {"doubleValue": n / 2}}})
    by_n, by_name = {"field": field("n")}, {"field": field("__name__"), "direction": "DESCENDING"}
    cursor, one = {"values": [integer(2)]}, integer(1)
    both = {"compositeFilter": {"op": "AND", "filters": [where("n", "GREATER_THAN", one), where("g", "EQUAL", string("g0"))]}}
    shapes = [
        {}, {"limit": 2}, {"limit": {"value": 2}}, {"limit": 0}, {"limit": -1}, {"offset": 3}, {"offset": -1}, {"limit": "2"},
        {"orderBy": [by_n]}, {"orderBy": [by_name]}, {"orderBy": by_n}, {"orderBy": [by_n], "startAt": cursor},
        {"orderBy": [by_n], "startAt": {**cursor, "before": True}}, {"orderBy": [by_n], "endAt": cursor}, {"startAt": cursor},
        {"orderBy": [by_n], "startAt": {"values": [one, one, one]}}, {"orderBy": [{"field": field("n"), "direction": "UP"}]},
        {"select": {"fields": [field("n")]}}, {"select": {"fields": []}}, {"select": {"fields": [field("a..b")]}}, {"select": {}},
        {"where": both}, {"where": {"compositeFilter": {"op": "OR", "filters": both["compositeFilter"]["filters"]}}},
        {"where": {"compositeFilter": {"op": "AND"}}}, {"where": {"compositeFilter": {"op": "OR"}}}, {"where": {}}, {"where": {"unaryFilter": {"field": field("n")}}},
        *({"where": {"unaryFilter": {"field": field("n"), "op": op}}} for op in ("IS_NULL", "IS_NOT_NULL", "IS_NAN", "IS_NOT_NAN")),
        *({"where": where("n", op, one)} for op in ("EQUAL", "NOT_EQUAL", "LESS_THAN", "GREATER_THAN_OR_EQUAL", "IN", "WRONG", 5)),
        *({"where": where("n", op, array(one, integer(3)))} for op in ("IN", "NOT_IN", "ARRAY_CONTAINS_ANY")),
        {"where": where("a", "ARRAY_CONTAINS", one)}, {"where": where("a", "ARRAY_CONTAINS_ANY", array(one, integer(2)))},
        {"where": where("n", "IN", array())}, {"where": where("__name__", "EQUAL", string("x"))}, {"from": []}, {"wrong": 1},
        {"where": where("__name__", "GREATER_THAN", {"referenceValue": f"{ROOT}/q/d2"})}, {"from": [{"allDescendants": True}]},
        {"from": [{"collectionId": "sub", "allDescendants": True}]}, {"from": [{"collectionId": "a/b"}]}, {"from": {"x": 1}},
        {"from": [{"collectionId": "q"}, {"collectionId": "c"}]}, {"where": where("n", "LESS_THAN", one), "orderBy": [by_name]}]
    for shape in shapes:
        query(t, "q", **shape)
    t.ask("POST", "c/a:runQuery", {"structuredQuery": {"from": [{"collectionId": "sub"}]}})
    t.ask("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": "q"}]}, "newTransaction": {"readOnly": {}}})
    t.ask("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": "q"}]}}, Origin=PAGE)
    n = {"field": field("n")}
    for parts in ([{"count": {}}], [{"count": {}, "alias": "c"}, {"sum": n}, {"avg": n}], [{"avg": {"field": field("zz")}}], [],
                  [{"sum": {"field": field("d")}}, {"avg": {"field": field("d")}}], [{"count": {"upTo": "2"}}], [{}],
                  [{"count": {}, "alias": "c"}, {"count": {}, "alias": "c"}], [{"sum": {"field": field("a..b")}}],
                  [{"count": {}}] * 6, [{"count": {"upTo": "-1"}}], [{"count": {}, "alias": "__a__"}], [{"max": n}]):
        t.ask("POST", ":runAggregationQuery", {"structuredAggregationQuery": {
            "structuredQuery": {"from": [{"collectionId": "q"}]}, "aggregations": parts}})
    for body in ({"pageSize": 2}, {"pageSize": -1}, {"pageToken": "x"}, {"pageSize": "2"}):
        t.ask("POST", ":listCollectionIds", body)
    t.each("POST", "c/a:listCollectionIds", "c/gone:listCollectionIds", "none/x:listCollectionIds", "c:listCollectionIds")
    t.ask("POST", ":partitionQuery", {"partitionCount": "3", "structuredQuery": {
        "from": [{"collectionId": "q", "allDescendants": True}], "orderBy": [{"field": field("__name__")}]}})


def control(t):
    for path in ("c/a", ":commit", channel("Listen"), f"/emulator/v1/{ROOT}", "/"):
        path = path if path.startswith("/") else f"/v1/{ROOT}{'' if path[0] == ':' else '/'}{path}"
        for origin in (PAGE, "https://evil.example"):
            t.ask("OPTIONS", path, Origin=origin, Access_Control_Request_Method="POST",
                  Access_Control_Request_Headers="authorization,content-type,x-goog-api-client")
        t.ask("OPTIONS", path)
    project = "/emulator/v1/projects/demo-traces"
    t.ask("PATCH", "c/b", {"fields": {"n": integer(1)}})
    t.each("GET", "/", "/emulator/v1", project + ":wrong", project + ":securityRules", project + ":ruleCoverage")
    t.ask("HEAD", "/")
    for text in ("allow read: if request.auth.uid == 'me'; allow write: if false;", "allow read if true;", "allow read: if wrong();"):
        for more in ({}, {"ignore_errors": True}):
            t.ask("PUT", project + ":securityRules", {"rules": {"files": [{
                "name": "firestore.rules", "content": "rules_version = '2';\nservice cloud.firestore {\n  match "
                "/databases/{d}/documents/{p=**} {\n    %s\n  }\n}" % text}]}, **more})
            t.ask("GET", project + ":securityRules")
        for who in ("nobody", "me", "you", "owner", "nonsense"):
            t.ask("GET", "c/b", who=who)
            t.each("GET", "c/none", "c?pageSize=1", "c?showMissing=true", who=who)
            t.each("POST", ":listCollectionIds", ":beginTransaction", who=who)
            t.ask("POST", ":commit", {"writes": [update("c/b")]}, who=who)
            t.ask("POST", ":runQuery", {"structuredQuery": {"from": [{"collectionId": "c"}], "limit": 1}}, who=who)
        t.ask("GET", project + ":ruleCoverage")
    for body in ("{", {}, {"rules": {}}, {"rules": {"files": []}}, {"rules": {"files": [{"name": "x"}]}}, {"wrong": 1}):
        t.ask("PUT", project + ":securityRules", body)
    clear(t)
    for body in ("{", {}, {"database": DATABASE, "export_directory": "/nonexistent", "export_name": "x"}, {"database": "x"}):
        t.ask("POST", project + ":export", body)
    t.ask("PATCH", "c/a", {"fields": {}})
    t.each("DELETE", f"/emulator/v1/{ROOT}/v", f"/emulator/v1/{ROOT}", f"/emulator/v1/{DATABASE}", f"/emulator/v1/{ROOT}")
    t.ask("DELETE", "/emulator/v1/projects/none/databases/none/documents")
    t.each("GET", "c/a", "q")


def clear(t):
    t.exchange("DELETE", f"/emulator/v1/{ROOT}")
    t.exchange("PUT", "/emulator/v1/projects/demo-traces:securityRules", {"rules": {"files": [{
        "name": "open.rules", "content": OPEN_RULES}]}})


OPEN_RULES = "service cloud.firestore { match /databases/{d}/documents/{p=**} { allow read, write; } }"
