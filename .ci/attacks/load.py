# SPDX-License-Identifier: Apache-2.0
"""Clients that ask for much and read nothing, or leave: the server's memory, and what another client waits meanwhile.

crowds: listeners of a collection of 40 MB: a hundred whose client reads nothing, over gRPC on one connection and on ten,
sixty browsers' sessions that read nothing, and a hundred clients that come back at once and read all.
unread: clients that ask for large results and read nothing, or send heads and no body: the process stays below 600 MB, and
another client's get is answered within a second.
pipelines: their caller leaves: the server holds no more than a pipeline may, and does nothing for them afterwards."""
from attack import *


def most_memory(server, seconds):
    most, deadline = server.memory(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(0.05)
        most = max(most, server.memory())
    return most


# crowds

COUNT, SIZE = 2_000, 20_000
MOST_MEGABYTES = 64
MOST_SECONDS = 0.05
LISTEN = framed(field(1, DATABASE) + field(2, field(2, field(1, DOCUMENTS) + field(2, field(2, field(2, "c")))) + field(5, 2)))


def fill(address):
    connection = Connection(address)
    text = field(2, field(1, "text") + field(2, field(17, "x" * SIZE)))
    for first in range(0, COUNT, 200):
        writes = b"".join(field(2, field(1, field(1, f"{DOCUMENTS}/c/{number}") + text)) for number in range(first, first + 200))
        connection.call("Commit", framed(field(1, DATABASE) + writes))
    connection.close()


def unread_listens(address, connections):
    opened = [Connection(address, 0, headers=()) for _ in range(connections)]
    for number in range(100):
        opened[number % connections].start("Listen", LISTEN, False)
    time.sleep(8)
    return opened


def sessions(address):
    opened = open_channels(address, DATABASE, "c", 60)
    time.sleep(8)
    return opened


def readers(address):
    """A hundred clients that read until each has all; how long that took."""
    opened = [Connection(address, 1 << 24, headers=()) for _ in range(100)]
    received = {connection: 0 for connection in opened}
    start = time.monotonic()
    for connection in opened:
        connection.start("Listen", LISTEN, False)
    while any(count < COUNT * SIZE for count in received.values()) and time.monotonic() - start < 300:
        for connection in select.select(opened, [], [], 10)[0]:
            for kind, _, stream, payload in connection.read():
                if kind == DATA and payload:
                    received[connection] += len(payload)
                    connection.socket.sendall(widening(stream, len(payload)))
    print(f"all had all after {time.monotonic() - start:.1f} s: "
          f"{sum(count >= COUNT * SIZE for count in received.values())} of 100")
    return opened


def alone(address):
    time.sleep(8)
    return []


def crowds():
    cases = {
        "nobody else": alone,
        "100 unread Listens on 1 connection": lambda address: unread_listens(address, 1),
        "100 unread Listens on 10 connections": lambda address: unread_listens(address, 10),
        "60 unread sessions of browsers": sessions,
        "100 clients that come back and read": readers,
    }
    failed = False
    with folder() as home:
        for name, case in cases.items():
            with serve(home, "--in-memory") as server:
                fill(server.address)
                before, neighbor = server.memory(), Neighbor(server.address, f"{DOCUMENTS}/c/1", 0.002)
                opened = case(server.address)
                (longest, usual, count, _), above = neighbor.end(), server.memory() - before
                for connection in opened:
                    connection.close()
            # KNOWN-LIMITS has the gets beside 100 returning clients, so their time is only printed.
            bad = count == 0 or above > MOST_MEGABYTES or (case is not readers and longest > MOST_SECONDS)
            failed = failed or bad
            print(f"{name}: {above:.0f} MB above the start, a get took {longest * 1000:.0f} ms at most, {usual * 1000:.1f} ms "
                  f"mostly ({count})" + (" TOO MUCH" if bad else ""), flush=True)
    return failed


# unread

LIMIT_MB, LATENCY = 600, 1.0
HOLD = float(os.environ.get("HEARTH_HOLD") or 12)
RUN_QUERY = framed(field(1, DOCUMENTS) + field(2, field(2, field(2, "big"))))
LIST = framed(field(1, DOCUMENTS) + field(2, "big"))
REST_BODY = json.dumps({"structuredQuery": {"from": [{"collectionId": "big"}]}}).encode()
SMALL = framed(field(1, f"{DOCUMENTS}/small/one"))


def grpc(method, content):
    return lambda stream: frame(HEADERS, 4, stream, call_headers(method)) + frame(DATA, 1, stream, content)


def post(stream):
    return frame(HEADERS, 4, stream, header_block(
        (":method", "POST"), (":scheme", "http"), (":path", f"/v1/{DOCUMENTS}:runQuery"), (":authority", "localhost"),
        ("content-type", "application/json"))) + frame(DATA, 1, stream, REST_BODY)


def commit_head(stream):
    return frame(HEADERS, 4, stream, call_headers("Commit", ("x-filler", f"{stream:05}" + "x" * 15_000)))


def connect(address, before):
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(before)
    return connection


def hold_unread(table, name, connections, count, request, window=65_535, before=None):
    with folder() as home, serve(home, "--in-memory") as server:
        client = Rest(server.address)
        for path, size in [*((f"big/{number}", 1_000_000) for number in range(9)), ("small/one", 1)]:
            client.ask("PATCH", f"/v1/{DOCUMENTS}/{path}", {"fields": {"t": {"stringValue": "x" * size}}})
        start, held = server.memory(), []
        neighbor = Neighbor(server.address, f"/v1/{DOCUMENTS}/small/one", 0.05)
        for _ in range(connections):
            held.append(connect(server.address, before or opening(window)))
            try:
                for number in range(0 if before else count):
                    held[-1].sendall(request(2 * number + 1))
            except OSError:
                # The server has ended it.
                pass
        most = most_memory(server, HOLD)
        longest, _, _, failure = neighbor.end()
        for connection in held:
            connection.close()
        time.sleep(2)
        row = f"{name}, {connections} × {count}"
        if server.process.poll() is not None:
            return table.violate(row, "the server ended", server.said())
        table.add(row, f"{start:.0f} → {most:.0f} → {server.memory():.0f} MB, a get at most {longest * 1000:.0f} ms")
        if most > LIMIT_MB:
            table.violate(row, "too much memory", f"{most:.0f} MB")
        if failure or longest > LATENCY:
            table.violate(row, "another client waited", failure or f"{longest:.1f} s")


def unread():
    table = Table("results that clients do not read")
    hold_unread(table, "RunQuery", 40, 34, grpc("RunQuery", RUN_QUERY))
    hold_unread(table, "RunQuery", 20, 100, grpc("RunQuery", RUN_QUERY))
    hold_unread(table, "RunQuery, window 0", 20, 100, grpc("RunQuery", RUN_QUERY), window=0)
    hold_unread(table, "ListDocuments", 15, 60, grpc("ListDocuments", LIST))
    hold_unread(table, "REST over HTTP/2", 20, 100, post)
    hold_unread(table, "REST over HTTP/1.1", 200, 1, None, before=(
        f"POST /v1/{DOCUMENTS}:runQuery HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(REST_BODY)}\r\n\r\n").encode() + REST_BODY)
    hold_unread(table, "small answers, window 0", 20, 4_000, grpc("GetDocument", SMALL), window=0)
    hold_unread(table, "heads without bodies", 8, 8_000, commit_head)
    return table.finish()


# pipelines

ELEMENTS, MEMORY = 60_000, 128
FIELD = lambda name: {"fieldReferenceValue": name}
UNNEST = [{"name": "unnest", "args": [FIELD("a"), FIELD(name)]} for name in ("b", "c")]
COUNTED = {"functionValue": {"name": "count"}}
PIPELINES = {
    "unnest of unnest, counted": [*UNNEST, {"name": "aggregate", "args": [
        {"mapValue": {"fields": {"c": COUNTED}}}, {"mapValue": {"fields": {}}}]}],
    "unnest of unnest, sorted": [*UNNEST, {"name": "sort", "args": [
        {"mapValue": {"fields": {"expression": FIELD("c"), "direction": {"stringValue": "descending"}}}}]}],
    "unnest of unnest, distinct": [*UNNEST, {"name": "distinct", "args": [{"mapValue": {"fields": {"c": FIELD("c")}}}]}],
    "unnest of unnest, grouped": [*UNNEST, {"name": "aggregate", "args": [
        {"mapValue": {"fields": {"n": COUNTED}}}, {"mapValue": {"fields": {"b": FIELD("b"), "c": FIELD("c")}}}]}],
    "unnest of unnest, all of it": UNNEST,
}


def leave_pipeline(table, server, row, stages):
    stages = [{"name": "collection", "args": [{"referenceValue": "/h"}]}, *stages]
    body = json.dumps({"structuredPipeline": {"pipeline": {"stages": stages}}})
    before, neighbor = server.memory(), Neighbor(server.address, f"/v1/{DOCUMENTS}/small/1", 0.01)
    caller = connect(server.address, (
        f"POST /v1/{DOCUMENTS}:executePipeline HTTP/1.1\r\nHost: {server.address}\r\nAuthorization: Bearer owner\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
    most = most_memory(server, 3)
    caller.close()
    longest, usual, _, _ = neighbor.end()
    time.sleep(1)
    start = server.processor_seconds()
    time.sleep(3)
    used = server.processor_seconds() - start
    table.add(row, f"{before:.0f} → {most:.0f} MB, {used:.2f} s of processor after its caller left; neighbor's get: median "
                   f"{usual * 1000:.0f}, longest {longest * 1000:.0f} ms")
    if most - before > MEMORY:
        table.violate(row, "too much memory", f"{most - before:.0f} MB more")
    if used > 0.1:
        table.violate(row, "goes on", f"{used:.2f} s of processor after its caller left")


def pipelines():
    table = Table("pipelines whose caller leaves")
    with folder() as home, serve(home, "--in-memory") as server:
        numbers = {"arrayValue": {"values": [{"integerValue": str(n)} for n in range(ELEMENTS)]}}
        Rest(server.address).commit(DOCUMENTS, *(
            {"update": {"name": f"{DOCUMENTS}/{path}", "fields": fields}}
            for path, fields in (("small/1", {"n": {"integerValue": "1"}}), ("h/1", {"a": numbers}))))
        for row, stages in PIPELINES.items():
            leave_pipeline(table, server, row, stages)
    return table.finish()


perform(crowds=crowds, unread=unread, pipelines=pipelines)
