#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pipelines whose caller leaves: the server holds no more than a pipeline may, does
nothing for them afterwards, and answers a neighbour meanwhile."""
import http.client, json, socket, threading
from common import *

ELEMENTS, MEMORY = 60_000, 128


def resident(server):
    """Megabytes."""
    for line in open(f"/proc/{server.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024


def processor(server):
    """Seconds that the server has used."""
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Neighbour(threading.Thread):
    """Gets one small document all the time, on a connection of its own."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.times, self.ending = address, [], threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        while not self.ending.is_set():
            start = time.monotonic()
            connection.request("GET", f"/v1/{DOCUMENTS}/small/1", headers={"authorization": "Bearer owner"})
            connection.getresponse().read()
            self.times.append(time.monotonic() - start)
            time.sleep(0.01)

    def stop(self):
        self.ending.set()
        self.join(70)
        times = sorted(self.times) or [float("inf")]
        return f"neighbour's get: median {times[len(times) // 2] * 1000:.0f}, longest {times[-1] * 1000:.0f} ms"


FIELD = lambda name: {"fieldReferenceValue": name}
UNNEST = [{"name": "unnest", "args": [FIELD("a"), FIELD(name)]} for name in ("b", "c")]
COUNT = {"name": "aggregate", "args": [
    {"mapValue": {"fields": {"c": {"functionValue": {"name": "count"}}}}}, {"mapValue": {"fields": {}}}]}
PIPELINES = {
    "unnest of unnest, counted": [*UNNEST, COUNT],
    "unnest of unnest, sorted": [*UNNEST, {"name": "sort", "args": [
        {"mapValue": {"fields": {"expression": FIELD("c"), "direction": {"stringValue": "descending"}}}}]}],
    "unnest of unnest, distinct": [*UNNEST, {"name": "distinct", "args": [{"mapValue": {"fields": {"c": FIELD("c")}}}]}],
    "unnest of unnest, grouped": [*UNNEST, {"name": "aggregate", "args": [
        {"mapValue": {"fields": {"n": {"functionValue": {"name": "count"}}}}},
        {"mapValue": {"fields": {"b": FIELD("b"), "c": FIELD("c")}}}]}],
    "unnest of unnest, all of it": UNNEST,
}


def attack(table, server, row, stages):
    stages = [{"name": "collection", "args": [{"referenceValue": "/h"}]}, *stages]
    body = json.dumps({"structuredPipeline": {"pipeline": {"stages": stages}}})
    before, neighbour, most = resident(server), Neighbour(server.address), 0
    neighbour.start()
    host, port = server.address.split(":")
    sock = socket.create_connection((host, int(port)))
    sock.sendall((f"POST /v1/{DOCUMENTS}:executePipeline HTTP/1.1\r\nHost: {server.address}\r\nAuthorization: Bearer owner\r\n"
                  f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        most = max(most, resident(server))
        time.sleep(0.05)
    sock.close()
    account = neighbour.stop()
    time.sleep(1)
    start = processor(server)
    time.sleep(3)
    used = processor(server) - start
    table.add(row, f"{before} → {most} MB, {used:.2f} s of processor after its caller left; {account}")
    if most - before > MEMORY:
        table.violate(row, "too much memory", f"{most - before} MB more")
    if used > 0.1:
        table.violate(row, "goes on", f"{used:.2f} s of processor after its caller left")


def main():
    table = Table("pipelines whose caller leaves")
    with folder() as home:
        server = Server(home, "--in-memory")
        try:
            client = Client(server.address)
            client.commit([client.set("small/1", n=1)])
            numbers = client.document.Value(array_value=client.document.ArrayValue(
                values=[client.document.Value(integer_value=n) for n in range(ELEMENTS)]))
            client.commit([client.write.Write(
                update=client.document.Document(name=f"{DOCUMENTS}/h/1", fields={"a": numbers}))])
            client.close()
            for row, stages in PIPELINES.items():
                attack(table, server, row, stages)
        finally:
            server.end(signal.SIGKILL)
    table.finish()


main()
