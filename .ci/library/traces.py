# SPDX-License-Identifier: Apache-2.0
"""The requests: of REST (v1), of WebChannel, as the Web SDK makes them, and others, and of an emulator's control."""
import json, re, socket, time, urllib.parse

import wire

DATABASE = "projects/demo-traces/databases/(default)"
ROOT = DATABASE + "/documents"
PAGE = "http://localhost:5000"
HEADERS = ("content-type", "vary", "x-content-type-options", "cache-control", "location")
# How long a back channel says nothing before it has said all, in seconds.
QUIET = 1.0
FORM = "application/x-www-form-urlencoded"


def chosen(headers):
    found = {}
    for name, value in headers:
        name = name.lower()
        if name in HEADERS or name.startswith("access-control-"):
            found[name] = value.replace(" ", "").lower()
    return found


def token(user):
    now = int(time.time())
    return "Bearer " + wire.token(user, user_id=user, iss="https://securetoken.google.com/demo-traces", aud="demo-traces", iat=now,
                                  auth_time=now, exp=now + 3600)


def channel(method, query=""):
    database = urllib.parse.quote(DATABASE, safe="()")
    return f"/google.firestore.v1.Firestore/{method}/channel?VER=8&database={database}{query}"


def form(messages, offset):
    fields = {"count": len(messages), "ofs": offset}
    for index, message in enumerate(messages):
        fields[f"req{index}___data__"] = message if isinstance(message, str) else json.dumps(message)
    return urllib.parse.urlencode(fields)


class Session:
    def __init__(self, trace, method, label, *messages, query="&X-HTTP-Session-Id=gsessionid", lines="", **headers):
        self.trace, self.method, self.label = trace, method, f"{method} {label}"
        self.number, self.offset, self.heard, self.id = 100, len(messages), 0, None
        self.targets = Targets()
        answer = trace.exchange(
            "POST", channel(method, "&RID=100&CVER=22&zx=a&t=1" + query),
            ("headers=" + urllib.parse.quote(lines) + "&" if lines else "") + form(messages, 0),
            **{"Content_Type": FORM, "Origin": PAGE, "Authorization": "", **headers})
        found = re.search(r'\["c","([^"]+)"', str(answer.get("body")))
        if found:
            self.id = found[1]
        trace.note(f"{self.label}: open", answer)

    def send(self, step, *messages, again=False, offset=None, acknowledged=None):
        """What is sent again has the same numbers. Without a session nothing is asked."""
        if self.id is None:
            return
        if not again:
            self.number += 1
            self.offset += len(messages)
        first = self.offset - len(messages) if offset is None else offset
        number = self.heard if acknowledged is None else acknowledged
        self.trace.note(f"{self.label}: {step}", self.trace.exchange(
            "POST", channel(self.method, f"&SID={self.id}&RID={self.number}&AID={number}&zx=a&t=1"),
            form(messages, first), Content_Type=FORM, Origin=PAGE, Authorization=""))

    def hear(self, step, heard=None, buffered=0, then=None):
        """Opens a back channel, and does something when all is said. Returns the messages."""
        if self.id is None:
            return []
        heard = self.heard if heard is None else heard
        line = socket.create_connection(("127.0.0.1", self.trace.port))
        line.settimeout(QUIET)
        target = channel(self.method, f"&SID={self.id}&RID=rpc&AID={heard}&CI={buffered}&TYPE=xmlhttp&zx=a&t=1")
        line.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.trace.port}\r\nOrigin: {PAGE}\r\n\r\n".encode())
        said, isOver = b"", False
        while True:
            try:
                if not (part := line.recv(1 << 16)):
                    isOver = True
                    break
                said += part
                if (isOver := is_whole(said)):
                    break
            except TimeoutError:
                if then is None:
                    break
                then()
                then = None
        line.close()
        head, _, body = said.partition(b"\r\n\r\n")
        names = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")[1:]]
        text = (unchunked(body) if b"chunked" in head.lower() else body).decode("utf-8", "replace")
        answer = {"status": int(head[9:12] or 0), "headers": chosen(names), "ended": isOver}
        try:
            arrays = list(frames(text))
        except ValueError:
            self.trace.note(f"{self.label}: {step}", {**answer, "body": text})
            return []
        numbers = [number for number, _ in arrays]
        answer["numbered on"] = numbers == list(range(heard + 1, heard + 1 + len(numbers)))
        self.heard = max(numbers + [self.heard])
        self.trace.note(f"{self.label}: {step}", {**answer, **self.targets.hear([message for _, message in arrays])})
        return arrays

    def end(self, step="terminate", verb="GET"):
        if self.id is None:
            return
        self.trace.note(f"{self.label}: {step}", self.trace.exchange(
            verb, channel(self.method, f"&SID={self.id}&RID=999&TYPE=terminate&zx=a"), Origin=PAGE))


class Targets:
    """What a client knows of each target: the messages until it is current and those that end it, and the documents.
    Later changes come in other messages, and in any order."""

    def __init__(self):
        self.documents, self.current = {}, set()

    def hear(self, messages):
        found = {}
        for message in messages:
            kind, change = next(iter(message[0].items())) if isinstance(message[0], dict) else ("", {})
            change = change if isinstance(change, dict) else {}
            ids = change.get("targetIds", []) + change.get("removedTargetIds", [])
            if not ids:
                # What says only how far all is known comes as often as a server likes, and so does silence.
                if kind != "targetChange" and message != ["noop"]:
                    found.setdefault("stream", []).append(message)
                continue
            state = change.get("targetChangeType")
            for target in ids:
                self.apply(kind, change, state, target)
                if state == "RESET":
                    found["reset"] = True
                elif target not in self.current or state == "REMOVE":
                    found.setdefault(f"target {target}", []).append(message)
                if state == "CURRENT":
                    self.current.add(target)
        return {**found, "documents": {str(target): dict(held) for target, held in self.documents.items() if held}}

    def apply(self, kind, change, state, target):
        held = self.documents.setdefault(target, {})
        if kind == "documentChange":
            document = change["document"]
            held[document["name"]] = document
            if target in change.get("removedTargetIds", []):
                del held[document["name"]]
        elif kind in ("documentDelete", "documentRemove"):
            held.pop(change["document"], None)
        elif state == "RESET" or state == "ADD" and target not in self.current:
            held.clear()
        elif state == "REMOVE":
            del self.documents[target]
            self.current.discard(target)


def is_whole(said):
    head, _, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(length) and len(body) >= int(length[1]) or body == b"0\r\n\r\n" or body.endswith(b"\r\n0\r\n\r\n")


def unchunked(body):
    text = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        text, body = text + body[:int(size, 16)], body[int(size, 16) + 2:]
    return text


def frames(text):
    """Lengths count units of UTF-16."""
    rest = text.encode("utf-16-le")
    while rest:
        size, found, rest = rest.partition("\n".encode("utf-16-le"))
        if not found:
            raise ValueError
        length = 2 * int(size.decode("utf-16-le"))
        yield from json.loads(rest[:length].decode("utf-16-le"))
        rest = rest[length:]


# Messages.

def target(number, *paths, **more):
    return {"database": DATABASE, "addTarget": {
        "targetId": number, "documents": {"documents": [f"{ROOT}/{path}" for path in paths]}, **more}}


def query_target(number, collection, target=None, **more):
    return {"database": DATABASE, "addTarget": {"targetId": number, **(target or {}), "query": {
        "parent": ROOT, "structuredQuery": {"from": [{"collectionId": collection}], **more}}}}


def text_write(path, text="", **more):
    return {"update": {"name": f"{ROOT}/{path}", "fields": {"text": {"stringValue": f"{path} é 😀 {text}"}}}, **more}


def batch(*writes, token="MA=="):
    return {"streamToken": token, "writes": list(writes)}


def committing(t, *writes):
    return lambda: t.exchange("POST", f"/v1/{ROOT}:commit", {"writes": list(writes)})


def listens(t):
    committing(t, text_write("ch/a"), text_write("ch/b"), {"update": {"name": f"{ROOT}/all/a", "fields": {
        "null": {"nullValue": None}, "true": {"booleanValue": True}, "integer": {"integerValue": "7"}, "nan": {"doubleValue": "NaN"},
        "double": {"doubleValue": 1.5}, "time": {"timestampValue": "2001-02-03T04:05:06.123456Z"}, "text": {"stringValue": "é 😀"},
        "bytes": {"bytesValue": "AP8="}, "reference": {"referenceValue": f"{ROOT}/c/a"}, "array": {"arrayValue": {}},
        "place": {"geoPointValue": {"latitude": 1}}, "map": {"mapValue": {"fields": {"a": {"arrayValue": {
            "values": [{"integerValue": "1"}]}}}}}}}})()
    gone = {"delete": f"{ROOT}/ch/b"}
    s = Session(t, "Listen", "empty")
    s.hear("nothing")
    s.send("add a target", target(2, "ch/a"))
    s.hear("its documents", then=committing(t, text_write("ch/a", "second")))
    s.hear("the same written again", then=committing(t, text_write("ch/a", "second")))
    s.end()
    s.hear("behind the end")
    s.send("behind the end", target(4, "ch/a"))
    s.end("terminate again")
    s = Session(t, "Listen", "documents", target(2, "ch/a", "ch/none", "all/a"))
    s.hear("all", then=committing(t, text_write("ch/none"), gone))
    s.send("remove it", {"database": DATABASE, "removeTarget": 2})
    s.hear("removed", then=committing(t, text_write("ch/a", "third")))
    s.send("remove an unknown one", {"database": DATABASE, "removeTarget": 9})
    s.send("add it again", target(2, "ch/a"))
    s.hear("again")
    s.hear("from the beginning", heard=0)
    s.send("another's number", target(2, "ch/b"))
    s.hear("another's number")
    s.send("acknowledged too much", acknowledged=99)
    s.end("terminate by POST", "POST")
    committing(t, text_write("ch/b"))()
    s = Session(t, "Listen", "query", query_target(2, "ch"))
    first = s.hear("all", then=committing(t, text_write("ch/new"), gone))
    held = {target: dict(documents) for target, documents in s.targets.documents.items()}
    s.send("two more", query_target(4, "ch", limit=1, orderBy=[{"field": {"fieldPath": "text"}, "direction": "DESCENDING"}]),
           query_target(6, "nothing"))
    s.hear("of three", then=committing(t, text_write("ch/z"), {"delete": f"{ROOT}/ch/new"}))
    tokens = re.findall(r'"resumeToken": "([^"]+)"', json.dumps(first))
    if tokens:
        s = Session(t, "Listen", "resumed", query_target(2, "ch", {"resumeToken": tokens[-1], "expectedCount": len(held[2])}))
        s.targets.documents, s.targets.current = held, {2}
        s.hear("what is new")
    s = Session(t, "Listen", "once", query_target(2, "ch", {"once": True}))
    s.hear("all", then=committing(t, text_write("ch/a", "fourth")))
    s = Session(t, "Listen", "buffered", query_target(2, "ch"))
    s.hear("all", buffered=1)
    s.hear("more", buffered=1, then=committing(t, text_write("ch/a", "fifth")))
    s.hear("the rest", buffered=1)
    s = Session(t, "Listen", "lost and repeated", query_target(2, "ch"))
    s.send("second", target(4, "ch/a"))
    s.send("second again", target(4, "ch/a"), again=True)
    s.send("fourth before third", target(8, "ch/a"), offset=3)
    s.send("third", target(6, "ch/none2"), offset=2)
    s.hear("all of them")
    for label, message in {
            "no JSON": "{", "no object": "[]", "unknown field": {"database": DATABASE, "wrong": 1}, "nothing": {"database": DATABASE},
            "no kind of target": {"database": DATABASE, "addTarget": {"targetId": 2}}, "bad database": {**target(2, "ch/a"), "database": "x"},
            "no document": target(2), "bad document": target(2, "ch"), "number of zero": query_target(0, "ch"), "negative number": query_target(-1, "ch"),
            "bad query": query_target(2, "ch", where={"fieldFilter": {"field": {"fieldPath": "a"}, "op": "IN", "value": {"arrayValue": {}}}}),
            "bad limit": query_target(2, "ch", limit=-1), "bad token": query_target(2, "ch", {"resumeToken": "*"}),
            "strange token": query_target(2, "ch", {"resumeToken": "AAAA"})}.items():
        s = Session(t, "Listen", f"with {label}", message)
        s.hear("the answer")
        s.hear("afterwards")
        s.send("another", target(8, "ch/a"))
    for label, more in {
            "as owner": {"lines": "Authorization:Bearer owner\r\n"}, "as nobody": {"lines": "Authorization:Bearer nonsense\r\n"},
            "as a user": {"lines": f"X-Goog-Api-Client:gl-js/\r\nAuthorization:{token('me')}\r\n"},
            "with headers in the address": {"query": "&%24httpHeaders=Authorization%3ABearer%20owner%0D%0A"},
            "without a session's id": {"query": ""}, "from a strange page": {"Origin": "https://evil.example"},
            "as text": {"Content_Type": "text/plain"}}.items():
        Session(t, "Listen", label, target(2, "ch/a"), **more).hear("the answer")
    restricted = "service cloud.firestore { match /databases/{d}/documents/{p=**} { allow read, write: if request.auth.uid == 'me'; } }"
    for who, lines in (("nobody", ""), ("me", f"Authorization:{token('me')}\r\n")):
        t.exchange("PUT", "/emulator/v1/projects/demo-traces:securityRules", {"rules": {"files": [{"name": "r", "content": restricted}]}})
        Session(t, "Listen", f"under rules as {who}", target(2, "ch/a"), lines=lines).hear("the answer")
        s = Session(t, "Write", f"under rules as {who}", {"database": DATABASE}, lines=lines)
        s.send("a write", batch(text_write("ch/a")))
        s.hear("the answer")


def streams_of_writes(t):
    s = Session(t, "Write", "stream", {"database": DATABASE})
    s.hear("handshake")
    s.send("a write", batch(text_write("wr/a")))
    s.hear("its result")
    s.send("two batches", batch(text_write("wr/b"), {"delete": f"{ROOT}/wr/a"}), batch({"transform": {
        "document": f"{ROOT}/wr/b", "fieldTransforms": [{"fieldPath": "at", "setToServerValue": "REQUEST_TIME"}, {
            "fieldPath": "n", "increment": {"integerValue": "2"}}]}}))
    s.hear("their results")
    s.send("the last again", batch(text_write("wr/b")), again=True, offset=s.offset - 1)
    s.hear("nothing new")
    s.send("a refused one between two", batch(text_write("wr/c")), batch(text_write("wr/c", currentDocument={"exists": False})),
           batch(text_write("wr/d")))
    s.hear("results and the refusal")
    s.hear("the refusal again", heard=0)
    s.send("behind it", batch(text_write("wr/e")))
    t.each("GET", "wr/c", "wr/d", "wr/e")
    s = Session(t, "Write", "stream that ends", {"database": DATABASE})
    s.send("a write, and none", batch(text_write("wr/f")), batch())
    s.hear("its result")
    for label, first in {
            "no JSON": "{", "unknown field": {"database": DATABASE, "wrong": 1}, "no database": {}, "bad database": {"database": "x"},
            "writes": {"database": DATABASE, "writes": [text_write("wr/f")]},
            "a token": {"database": DATABASE, "streamId": "x", "streamToken": "MA=="}}.items():
        Session(t, "Write", f"beginning with {label}", first).hear("the answer")
    for label, message in {
            "no JSON": "{", "no token": {"writes": [text_write("wr/g")]}, "strange token": batch(text_write("wr/h"), token="AAAA"),
            "bad name": batch(text_write("wr")), "empty write": batch({}), "bad value": batch({
                "update": {"name": f"{ROOT}/wr/i", "fields": {"a": {"integerValue": "x"}}}})}.items():
        s = Session(t, "Write", f"going on with {label}", {"database": DATABASE})
        s.send("it", message)
        s.hear("the answer")
        s.send("another", batch(text_write("wr/j")))
        s.hear("afterwards")
        s.end()


def odd_requests(t):
    sid = "&SID=nonsense&zx=a"
    for method in ("Listen", "Write"):
        t.ask("GET", channel(method, sid + "&RID=rpc&AID=0&CI=0&TYPE=xmlhttp"), Origin=PAGE)
        t.ask("POST", channel(method, sid + "&RID=2&AID=0"), "count=0", Content_Type=FORM, Origin=PAGE)
        t.ask("GET", channel(method, sid + "&TYPE=terminate"), Origin=PAGE)
    for query in ("&MODE=init", "&TYPE=xmlhttp", "&TYPE=xmlhttp&RID=rpc", ""):
        t.ask("GET", channel("Listen", query), Origin=PAGE)
    t.each("PUT", channel("Listen", "&RID=1"), channel("Listen", sid), Origin=PAGE)
    t.ask("HEAD", channel("Listen", "&RID=1"), Origin=PAGE)
    for name in ("Commit", "Nothing"):
        t.ask("POST", channel(name, "&RID=1"), "count=0", Content_Type=FORM, Origin=PAGE)
    for body in ("count=-1", "count=x", "count=2&ofs=0&req0___data__=%7B%7D", "ofs=0", "count=1&ofs=x&req0___data__=%7B%7D"):
        t.ask("POST", channel("Listen", "&RID=1&CVER=22"), body, Content_Type=FORM, Origin=PAGE)
    t.ask("POST", channel("Listen", "&RID=x&CVER=22"), "count=0", Content_Type=FORM, Origin=PAGE)
    t.ask("POST", channel("Listen", "&CVER=22"), "count=0", Content_Type=FORM, Origin=PAGE)
    t.ask("POST", channel("Listen", "&RID=1").replace("VER=8", "VER=7"), "count=0", Content_Type=FORM, Origin=PAGE)


# REST.

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
