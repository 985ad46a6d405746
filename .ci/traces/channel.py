# SPDX-License-Identifier: Apache-2.0
"""Requests of WebChannel, as the Web SDK makes them, and others."""
import json, re, socket, time, urllib.parse

from answers import DATABASE, PAGE, ROOT, chosen, token

# How long a back channel says nothing before it has said all, in seconds.
QUIET = 1.0
FORM = "application/x-www-form-urlencoded"


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


def query(number, collection, target=None, **more):
    return {"database": DATABASE, "addTarget": {"targetId": number, **(target or {}), "query": {
        "parent": ROOT, "structuredQuery": {"from": [{"collectionId": collection}], **more}}}}


def write(path, text="", **more):
    return {"update": {"name": f"{ROOT}/{path}", "fields": {"text": {"stringValue": f"{path} é 😀 {text}"}}}, **more}


def batch(*writes, token="MA=="):
    return {"streamToken": token, "writes": list(writes)}


def committing(t, *writes):
    return lambda: t.exchange("POST", f"/v1/{ROOT}:commit", {"writes": list(writes)})


def listens(t):
    committing(t, write("ch/a"), write("ch/b"), {"update": {"name": f"{ROOT}/all/a", "fields": {
        "null": {"nullValue": None}, "true": {"booleanValue": True}, "integer": {"integerValue": "7"}, "nan": {"doubleValue": "NaN"},
        "double": {"doubleValue": 1.5}, "time": {"timestampValue": "2001-02-03T04:05:06.123456Z"}, "text": {"stringValue": "é 😀"},
        "bytes": {"bytesValue": "AP8="}, "reference": {"referenceValue": f"{ROOT}/c/a"}, "array": {"arrayValue": {}},
        "place": {"geoPointValue": {"latitude": 1}}, "map": {"mapValue": {"fields": {"a": {"arrayValue": {
            "values": [{"integerValue": "1"}]}}}}}}}})()
    gone = {"delete": f"{ROOT}/ch/b"}
    s = Session(t, "Listen", "empty")
    s.hear("nothing")
    s.send("add a target", target(2, "ch/a"))
    s.hear("its documents", then=committing(t, write("ch/a", "second")))
    s.hear("the same written again", then=committing(t, write("ch/a", "second")))
    s.end()
    s.hear("behind the end")
    s.send("behind the end", target(4, "ch/a"))
    s.end("terminate again")
    s = Session(t, "Listen", "documents", target(2, "ch/a", "ch/none", "all/a"))
    s.hear("all", then=committing(t, write("ch/none"), gone))
    s.send("remove it", {"database": DATABASE, "removeTarget": 2})
    s.hear("removed", then=committing(t, write("ch/a", "third")))
    s.send("remove an unknown one", {"database": DATABASE, "removeTarget": 9})
    s.send("add it again", target(2, "ch/a"))
    s.hear("again")
    s.hear("from the beginning", heard=0)
    s.send("another's number", target(2, "ch/b"))
    s.hear("another's number")
    s.send("acknowledged too much", acknowledged=99)
    s.end("terminate by POST", "POST")
    committing(t, write("ch/b"))()
    s = Session(t, "Listen", "query", query(2, "ch"))
    first = s.hear("all", then=committing(t, write("ch/new"), gone))
    held = {target: dict(documents) for target, documents in s.targets.documents.items()}
    s.send("two more", query(4, "ch", limit=1, orderBy=[{"field": {"fieldPath": "text"}, "direction": "DESCENDING"}]),
           query(6, "nothing"))
    s.hear("of three", then=committing(t, write("ch/z"), {"delete": f"{ROOT}/ch/new"}))
    tokens = re.findall(r'"resumeToken": "([^"]+)"', json.dumps(first))
    if tokens:
        s = Session(t, "Listen", "resumed", query(2, "ch", {"resumeToken": tokens[-1], "expectedCount": len(held[2])}))
        s.targets.documents, s.targets.current = held, {2}
        s.hear("what is new")
    s = Session(t, "Listen", "once", query(2, "ch", {"once": True}))
    s.hear("all", then=committing(t, write("ch/a", "fourth")))
    s = Session(t, "Listen", "buffered", query(2, "ch"))
    s.hear("all", buffered=1)
    s.hear("more", buffered=1, then=committing(t, write("ch/a", "fifth")))
    s.hear("the rest", buffered=1)
    s = Session(t, "Listen", "lost and repeated", query(2, "ch"))
    s.send("second", target(4, "ch/a"))
    s.send("second again", target(4, "ch/a"), again=True)
    s.send("fourth before third", target(8, "ch/a"), offset=3)
    s.send("third", target(6, "ch/none2"), offset=2)
    s.hear("all of them")
    for label, message in {
            "no JSON": "{", "no object": "[]", "unknown field": {"database": DATABASE, "wrong": 1}, "nothing": {"database": DATABASE},
            "no kind of target": {"database": DATABASE, "addTarget": {"targetId": 2}}, "bad database": {**target(2, "ch/a"), "database": "x"},
            "no document": target(2), "bad document": target(2, "ch"), "number of zero": query(0, "ch"), "negative number": query(-1, "ch"),
            "bad query": query(2, "ch", where={"fieldFilter": {"field": {"fieldPath": "a"}, "op": "IN", "value": {"arrayValue": {}}}}),
            "bad limit": query(2, "ch", limit=-1), "bad token": query(2, "ch", {"resumeToken": "*"}),
            "strange token": query(2, "ch", {"resumeToken": "AAAA"})}.items():
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
        s.send("a write", batch(write("ch/a")))
        s.hear("the answer")


def streams_of_writes(t):
    s = Session(t, "Write", "stream", {"database": DATABASE})
    s.hear("handshake")
    s.send("a write", batch(write("wr/a")))
    s.hear("its result")
    s.send("two batches", batch(write("wr/b"), {"delete": f"{ROOT}/wr/a"}), batch({"transform": {
        "document": f"{ROOT}/wr/b", "fieldTransforms": [{"fieldPath": "at", "setToServerValue": "REQUEST_TIME"}, {
            "fieldPath": "n", "increment": {"integerValue": "2"}}]}}))
    s.hear("their results")
    s.send("the last again", batch(write("wr/b")), again=True, offset=s.offset - 1)
    s.hear("nothing new")
    s.send("a refused one between two", batch(write("wr/c")), batch(write("wr/c", currentDocument={"exists": False})),
           batch(write("wr/d")))
    s.hear("results and the refusal")
    s.hear("the refusal again", heard=0)
    s.send("behind it", batch(write("wr/e")))
    t.each("GET", "wr/c", "wr/d", "wr/e")
    s = Session(t, "Write", "stream that ends", {"database": DATABASE})
    s.send("a write, and none", batch(write("wr/f")), batch())
    s.hear("its result")
    for label, first in {
            "no JSON": "{", "unknown field": {"database": DATABASE, "wrong": 1}, "no database": {}, "bad database": {"database": "x"},
            "writes": {"database": DATABASE, "writes": [write("wr/f")]},
            "a token": {"database": DATABASE, "streamId": "x", "streamToken": "MA=="}}.items():
        Session(t, "Write", f"beginning with {label}", first).hear("the answer")
    for label, message in {
            "no JSON": "{", "no token": {"writes": [write("wr/g")]}, "strange token": batch(write("wr/h"), token="AAAA"),
            "bad name": batch(write("wr")), "empty write": batch({}), "bad value": batch({
                "update": {"name": f"{ROOT}/wr/i", "fields": {"a": {"integerValue": "x"}}}})}.items():
        s = Session(t, "Write", f"going on with {label}", {"database": DATABASE})
        s.send("it", message)
        s.hear("the answer")
        s.send("another", batch(write("wr/j")))
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
