#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kill -9` of `hearth serve --data` under load, again and again: no acknowledged commit is lost, none is doubled, none is
half there. HEARTH_ATTACK_KILLS says how often; 100 unless it does."""
import os, random, signal, threading, time
from common import *

KILLS = int(os.environ.get("HEARTH_ATTACK_KILLS", 100))
WRITERS = 4
source = random.Random(int(os.environ.get("HEARTH_ATTACK_SEED", 1)))


class Writer(threading.Thread):
    """Commits of three kinds until the server is gone. Each makes a document that says that it happened."""

    def __init__(self, address, number, first):
        super().__init__()
        self.address, self.number, self.next = address, number, first
        self.acknowledged, self.unanswered = [], []

    def run(self):
        client = Client(self.address)
        while True:
            name = f"{self.number}-{self.next}"
            self.next += 1
            size = (1, 3, 20)[self.next % 3]
            writes = [client.set(f"marks/{name}-{part}", fresh=True, n=part) for part in range(size)]
            # The counter is doubled, not the marks, if a commit is applied twice.
            writes.append(client.increment(f"counters/{self.number}", "n", size))
            try:
                client.commit(writes)
                self.acknowledged.append((name, size))
            except client.failure:
                self.unanswered.append((name, size))
                break
        client.close()


def main():
    table = Table(f"kill -9 of serve under load, {KILLS} times")
    started, nexts = {}, [0] * WRITERS
    acknowledged, unanswered = [], []
    with folder() as home:
        for kill in range(KILLS):
            server = Server(home, "--data", f"{home}/data")
            writers = [Writer(server.address, number, nexts[number]) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(source.uniform(0.02, 0.5))
            server.end(signal.SIGKILL)
            for writer in writers:
                writer.join()
                nexts[writer.number] = writer.next
                acknowledged += writer.acknowledged
                unanswered += writer.unanswered
            table.add("serve", "killed")
        server = Server(home, "--data", f"{home}/data")
        if server.said():
            table.violate("last start", "complained", one_line(server.said()))
        client = Client(server.address)
        marks = client.read("marks")
        counters = {path: fields["n"] for path, fields in client.read("counters").items()}
        client.close()
        if server.end() != 0:
            table.violate("last start", "did not end well", one_line(server.said()))
    applied = [0] * WRITERS
    for commits, isAcknowledged in ((acknowledged, True), (unanswered, False)):
        for name, size in commits:
            there = sum(f"marks/{name}-{part}" in marks for part in range(size))
            row = "acknowledged" if isAcknowledged else "unanswered"
            if there not in (0, size):
                table.violate(row, "half there", f"{name}: {there} of {size}")
            elif there == 0 and isAcknowledged:
                table.violate(row, "lost", name)
            else:
                table.add(row, "applied" if there else "not applied")
            applied[int(name.split("-")[0])] += there
    for number in range(WRITERS):
        counted = counters.get(f"counters/{number}", 0)
        if counted != applied[number]:
            table.violate("counters", "doubled or lost", f"{counted} counted, {applied[number]} marks")
        else:
            table.add("counters", "right")
    table.finish()


main()
