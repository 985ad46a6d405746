#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One bit turned over at a random place of a database that nobody has open, 50 places in each of four files: the
backend's and the cache's, main file and log. What is read afterwards is what was stored (harmless: the place was free),
or the damage is told; wrong or missing data without a word is a violation. HEARTH_ATTACK_PLACES sets how many places
there are in all, HEARTH_ATTACK_SEED where they are."""
import os, random, shutil, signal
from common import *

PLACES = int(os.environ.get("HEARTH_ATTACK_PLACES", 200)) // 4
source = random.Random(int(os.environ.get("HEARTH_ATTACK_SEED", 1)))


def fill(home):
    """A backend half of whose documents are in the main file and half in the log, as a kill leaves it."""
    for part in range(2):
        server = Server(home, "--data", f"{home}/data")
        client = Client(server.address)
        for first in range(0, 400, 20):
            client.commit([
                client.set(f"items/{part}-{number:03}", n=number, text=f"{part} {number} " * 30)
                for number in range(first, first + 20)])
        client.close()
        server.end(signal.SIGKILL if part else signal.SIGTERM)


def fill_cache(home):
    """A dashboard's cache with documents of its server and writes that wait, in main file and log, as a kill leaves it."""
    server = Server(home, "--data", f"{home}/served")
    client = Client(server.address)
    client.commit([client.set(f"items/{number:03}", n=number, text=f"{number} " * 40) for number in range(150)])
    place = ["--emulator", server.address, "--project", PROJECT, "--cache", f"{home}/cache"]
    dashboard = Dashboard(home, *place)
    dashboard.wait("items")
    dashboard.read(2)
    dashboard.type(" ", 2)
    dashboard.type("Q", 1)
    dashboard.end(signal.SIGTERM)
    client.commit([client.set(f"items/{number:03}", n=-number, text=f"new {number} " * 40) for number in range(75)])
    dashboard = Dashboard(home, *place, edits='{"name": "waits"}')
    dashboard.wait("items")
    dashboard.read(2)
    dashboard.type(" ", 2)
    dashboard.type("o", 1)
    for _ in range(3):
        dashboard.type("n", 0.6)
        dashboard.type("d", 1)
    dashboard.end(signal.SIGKILL)
    client.close()
    server.end()
    return place


def turn(path):
    place, bit = source.randrange(path.stat().st_size), source.randrange(8)
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
    return f"{path.name} byte {place} bit {bit}"


def served(home):
    """What a server gives, and what it says."""
    try:
        server = Server(home, "--data", f"{home}/data")
    except RuntimeError as error:
        return None, str(error)
    client = Client(server.address)
    try:
        documents = client.read("items")
        return documents, server.said()
    except client.failure as error:
        return None, str(error)
    finally:
        client.close()
        server.end()


def exported(home):
    status, output, errors = run(home, "export", "--all", "--recursive", "--data", f"{home}/data", "--project", PROJECT)
    return (output if status == 0 else None), errors or (f"status {status}" if status else "")


def cached(place):
    def read(home):
        moved = [str(home / "cache") if word.endswith("/cache") else word for word in place]
        status, output, errors = run(home, "get", "items", "--source", "cache", "--json", *moved)
        if crashed(status):
            return None, f"CRASH {status} {errors}"
        return (output if status == 0 else None), errors or (f"status {status}" if status else "")
    return read


def attack(table, template, name, file, read, places):
    expected, said = read(copy(template))
    if expected is None or said or not len(expected):
        table.violate(name, "no template", one_line(said))
        return
    for _ in range(places):
        home = copy(template)
        place = turn(home / file)
        found, said = read(home)
        if "CRASH" in said:
            table.violate(name, "crash", f"{place}: {one_line(said)}")
        elif found == expected:
            table.add(name, "harmless, but told" if said else "harmless")
        elif said:
            table.add(name, "told")
        else:
            lost = len(expected) - len(found)
            table.violate(name, "silent-wrong", f"{place}: {len(expected)} before, {lost} fewer now")
        shutil.rmtree(home)


def copy(template):
    home = template.parent / f"copy-{source.randrange(1 << 60):x}"
    shutil.copytree(template, home, ignore=shutil.ignore_patterns("*-shm", "*.sock", "lock"))
    return home


def main():
    table = Table(f"one bit turned over, {PLACES} places in each file")
    with folder() as place:
        backend, client = place / "backend", place / "client"
        backend.mkdir(), client.mkdir()
        fill(backend)
        for file in ("data/backend.sqlite3", "data/backend.sqlite3-wal"):
            attack(table, backend, f"{file[5:]}, served", file, served, PLACES // 2)
            attack(table, backend, f"{file[5:]}, exported", file, exported, PLACES - PLACES // 2)
        arguments = fill_cache(client)
        for file in ("cache/cache.sqlite3", "cache/cache.sqlite3-wal"):
            attack(table, client, file[6:], file, cached(arguments), PLACES)
    table.finish()


main()
