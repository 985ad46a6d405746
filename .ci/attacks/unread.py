#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that ask for large results and read nothing, or send heads and no body: the process stays below 600 MB, as
/proc says, and another client's get is answered within a second."""
import json, socket, struct, threading, urllib.request
from common import *

LIMIT_MB, LATENCY = 600, 1.0
HOLD = float(os.environ.get("HEARTH_HOLD") or 12)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, content=b""):
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


def text(value):
    """A literal of HPACK, not compressed."""
    value, length = value.encode(), len(value)
    if length < 127:
        return bytes([length]) + value
    rest, encoded = length - 127, b"\x7f"
    while rest >= 128:
        encoded, rest = encoded + bytes([rest % 128 + 128]), rest // 128
    return encoded + bytes([rest]) + value


def head(*fields):
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def call(method, *more):
    return head((":method", "POST"), (":scheme", "http"), (":path", f"/google.firestore.v1.Firestore/{method}"),
                (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"), *more)


def message(content):
    return b"\0" + struct.pack(">I", len(content)) + content


def field(number, content):
    length, encoded = len(content), b""
    while length >= 128:
        encoded, length = encoded + bytes([length % 128 + 128]), length // 128
    return bytes([number << 3 | 2]) + encoded + bytes([length]) + content


RUN_QUERY = message(field(1, DOCUMENTS.encode()) + field(2, field(2, field(2, b"big"))))
LIST = message(field(1, DOCUMENTS.encode()) + field(2, b"big"))
REST_BODY = json.dumps({"structuredQuery": {"from": [{"collectionId": "big"}]}}).encode()


def post(stream):
    return (frame(1, 4, stream, head(
        (":method", "POST"), (":scheme", "http"), (":path", f"/v1/{DOCUMENTS}:runQuery"), (":authority", "localhost"),
        ("content-type", "application/json"))) + frame(0, 1, stream, REST_BODY))


def grpc(method, content):
    return lambda stream: frame(1, 4, stream, call(method)) + frame(0, 1, stream, content)


def commit_head(stream):
    return frame(1, 4, stream, call("Commit", ("x-filler", f"{stream:05}" + "x" * 15_000)))


def small_get(stream):
    return frame(1, 4, stream, call("GetDocument")) + frame(
        0, 1, stream, message(field(1, f"{DOCUMENTS}/small/one".encode())))


def connect(address, before=b""):
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(before)
    return connection


def fill(address):
    def write(path, fields):
        body = json.dumps({"fields": {name: {"stringValue": value} for name, value in fields.items()}}).encode()
        request = urllib.request.Request(
            f"http://{address}/v1/{DOCUMENTS}/{path}", body, method="PATCH", headers={"content-type": "application/json"})
        urllib.request.urlopen(request, timeout=60).read()
    for number in range(9):
        write(f"big/{number}", {"t": "x" * 1_000_000})
    write("small/one", {"t": "x"})


def rss(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


class Neighbor(threading.Thread):
    """Gets a small document again and again over one connection."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.longest, self.done, self.failure = address, 0, threading.Event(), None

    def run(self):
        import http.client
        client = http.client.HTTPConnection(self.address, timeout=60)
        try:
            while not self.done.is_set():
                start = time.monotonic()
                client.request("GET", f"/v1/{DOCUMENTS}/small/one")
                answer = client.getresponse()
                answer.read()
                self.longest = max(self.longest, time.monotonic() - start)
                if answer.status != 200:
                    self.failure = f"status {answer.status}"
                time.sleep(0.05)
        except OSError as error:
            self.failure = str(error)


def attack(table, name, connections, count, request, window=65_535, before=None):
    with folder() as home:
        server = Server(home, "--in-memory")
        try:
            fill(server.address)
            start = rss(server)
            neighbor = Neighbor(server.address)
            neighbor.start()
            opening = PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, window))
            held = []
            for _ in range(connections):
                if before is not None:
                    held.append(connect(server.address, before))
                    continue
                connection = connect(server.address, opening)
                held.append(connection)
                try:
                    for number in range(count):
                        connection.sendall(request(2 * number + 1))
                except OSError:
                    # The server has ended it.
                    pass
            most, deadline = start, time.monotonic() + HOLD
            while time.monotonic() < deadline:
                most = max(most, rss(server))
                time.sleep(0.1)
            neighbor.done.set()
            neighbor.join(60)
            for connection in held:
                connection.close()
            time.sleep(2)
            row = f"{name}, {connections} × {count}"
            table.add(row, f"{start} → {most} → {rss(server)} MB, a get at most {neighbor.longest * 1000:.0f} ms")
            if server.process.poll() is not None:
                table.violate(row, "the server ended", server.said())
            if most > LIMIT_MB:
                table.violate(row, "too much memory", f"{most} MB")
            if neighbor.failure or neighbor.longest > LATENCY:
                table.violate(row, "another client waited", neighbor.failure or f"{neighbor.longest:.1f} s")
        finally:
            server.end()


def main():
    table = Table("results that clients do not read")
    attack(table, "RunQuery", 40, 34, grpc("RunQuery", RUN_QUERY))
    attack(table, "RunQuery", 20, 100, grpc("RunQuery", RUN_QUERY))
    attack(table, "RunQuery, window 0", 20, 100, grpc("RunQuery", RUN_QUERY), window=0)
    attack(table, "ListDocuments", 15, 60, grpc("ListDocuments", LIST))
    attack(table, "REST over HTTP/2", 20, 100, post)
    attack(table, "REST over HTTP/1.1", 200, 1, None, before=(
        f"POST /v1/{DOCUMENTS}:runQuery HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(REST_BODY)}\r\n\r\n").encode() + REST_BODY)
    attack(table, "small answers, window 0", 20, 4_000, small_get, window=0)
    attack(table, "heads without bodies", 8, 8_000, commit_head)
    table.finish()


main()
