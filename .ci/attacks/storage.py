# SPDX-License-Identifier: Apache-2.0
"""What is stored survives, or its loss is reported.

kills: `kill -9` of `hearth serve --data` under load, again and again: no acknowledged commit is lost, none is doubled, none is
half there. HEARTH_ATTACK_KILLS says how often (100).
corruption: one bit turned over at a random place of a database that nobody has open, 50 places in each of four files: the
backend's and the cache's, main file and log. What is read afterwards is what was stored (harmless: the place was free), or the
damage is told; wrong or missing data without a word is a violation. HEARTH_ATTACK_PLACES sets the number of places in all.
disk: the disk is full at every write in turn: strace lets the n-th and all later `pwrite64` into files fail with ENOSPC, for each
n until a command gets through. `serve` must refuse what it does not keep and keep what it acknowledged; `export` must leave the
old file; `import` must say so and be completed by the same command.
files: files that are emptied, taken away or those of another time, while a server has them open and while nobody has: what is
gone is told, and no write is accepted that is nowhere.
HEARTH_ATTACK_SEED repeats kills and corruption."""
import random, threading
from attack import *

source = random.Random(int(os.environ.get("HEARTH_ATTACK_SEED", 1)))

# kills

KILLS = int(os.environ.get("HEARTH_ATTACK_KILLS", 100))
WRITERS = 4


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


def kills():
    table = Table(f"kill -9 of serve under load, {KILLS} times")
    nexts, acknowledged, unanswered = [0] * WRITERS, [], []
    with folder() as home:
        for kill in range(KILLS):
            server = serve(home, "--data", f"{home}/data")
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
        server = serve(home, "--data", f"{home}/data")
        if server.said():
            table.violate("last start", "complained", one_line(server.said()))
        client = Client(server.address)
        marks = client.read("marks")
        counters = {path: fields["n"] for path, fields in client.read("counters").items()}
        client.close()
        if server.end() != 0:
            table.violate("last start", "did not end well", one_line(server.said()))
    applied = [0] * WRITERS
    for commits, is_acknowledged in ((acknowledged, True), (unanswered, False)):
        for name, size in commits:
            there = sum(f"marks/{name}-{part}" in marks for part in range(size))
            row = "acknowledged" if is_acknowledged else "unanswered"
            if there not in (0, size):
                table.violate(row, "half there", f"{name}: {there} of {size}")
            elif there == 0 and is_acknowledged:
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
    return table.finish()


# corruption

PLACES = int(os.environ.get("HEARTH_ATTACK_PLACES", 200)) // 4


def fill_backend(home):
    """A backend half of whose documents are in the main file and half in the log, as a kill leaves it."""
    for part in range(2):
        server = serve(home, "--data", f"{home}/data")
        client = Client(server.address)
        for first in range(0, 400, 20):
            client.commit([
                client.set(f"items/{part}-{number:03}", n=number, text=f"{part} {number} " * 30)
                for number in range(first, first + 20)])
        client.close()
        server.end(signal.SIGKILL if part else signal.SIGTERM)


def fill_cache(home):
    """A dashboard's cache with documents of its server and writes that wait, in main file and log, as a kill leaves it."""
    server = serve(home, "--data", f"{home}/served")
    client = Client(server.address)
    client.commit([client.set(f"items/{number:03}", n=number, text=f"{number} " * 40) for number in range(150)])
    place = ["--emulator", server.address, "--project", PROJECT, "--cache", f"{home}/cache"]
    screen = dashboard(home, *place)
    screen.wait("items")
    screen.go_on(2)
    screen.type(" ", 2)
    screen.type("Q", 1)
    screen.end(signal.SIGTERM)
    client.commit([client.set(f"items/{number:03}", n=-number, text=f"new {number} " * 40) for number in range(75)])
    screen = dashboard(home, *place, edits='{"name": "waits"}')
    screen.wait("items")
    screen.go_on(2)
    screen.type(" ", 2)
    screen.type("o", 1)
    for _ in range(3):
        screen.type("n", 0.6)
        screen.type("d", 1)
    screen.end(signal.SIGKILL)
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


def read_by_server(home):
    """What a server gives, and what it says."""
    try:
        server = serve(home, "--data", f"{home}/data")
    except RuntimeError as error:
        return None, str(error)
    client = Client(server.address)
    try:
        return client.read("items"), server.said()
    except client.failure as error:
        return None, str(error)
    finally:
        client.close()
        server.end()


def read_by_export(home):
    status, output, errors = run(home, "export", "--all", "--recursive", "--data", f"{home}/data", "--project", PROJECT)
    return (output if status == 0 else None), errors or (f"status {status}" if status else "")


def read_from_cache(place):
    def read(home):
        moved = [str(home / "cache") if word.endswith("/cache") else word for word in place]
        status, output, errors = run(home, "get", "items", "--source", "cache", "--json", *moved)
        if crashed(status):
            return None, f"CRASH {status} {errors}"
        return (output if status == 0 else None), errors or (f"status {status}" if status else "")
    return read


def damage(table, template, name, file, read, places):
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


def corruption():
    table = Table(f"one bit turned over, {PLACES} places in each file")
    with folder() as place:
        backend, client = place / "backend", place / "client"
        backend.mkdir(), client.mkdir()
        fill_backend(backend)
        for file in ("data/backend.sqlite3", "data/backend.sqlite3-wal"):
            damage(table, backend, f"{file[5:]}, served", file, read_by_server, PLACES // 2)
            damage(table, backend, f"{file[5:]}, exported", file, read_by_export, PLACES - PLACES // 2)
        arguments = fill_cache(client)
        for file in ("cache/cache.sqlite3", "cache/cache.sqlite3-wal"):
            damage(table, client, file[6:], file, read_from_cache(arguments), PLACES)
    return table.finish()


# disk

FIRST, LAST, STEP = 1, int(os.environ.get("HEARTH_ATTACK_WRITES", 60)), int(os.environ.get("HEARTH_ATTACK_STEP", 2))


def full_from(number):
    """Words that run a program on a disk that is full from its n-th write on. SQLite writes with pwrite64 only."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64",
            "-e", f"inject=pwrite64:error=ENOSPC:when={number}+"]


def serve_on_full(table):
    for number in range(FIRST, LAST, STEP):
        with folder() as home:
            row = "serve"
            kept, refused = [], []
            try:
                server = serve(home, "--data", f"{home}/data", before=full_from(number))
            except RuntimeError as error:
                table.add(row, "refused to start") if str(error) else table.violate(row, "silent", f"write {number}")
                continue
            client = Client(server.address)
            for count in range(8):
                try:
                    client.commit([client.set(f"items/{count}-{part}", fresh=True, n=count) for part in range(3)])
                    kept.append(count)
                except client.failure as error:
                    refused.append((count, error.code().name))
            client.close()
            lives = server.process.poll() is None
            server.end(signal.SIGKILL)
            if not lives:
                table.violate(row, "died", f"write {number}: {one_line(server.said())}")
            try:
                server = serve(home, "--data", f"{home}/data")
            except RuntimeError as error:
                table.violate(row, "does not start again", f"write {number}: {one_line(str(error))}")
                continue
            client = Client(server.address)
            found = client.read("items")
            client.close()
            server.end()
            for count in kept:
                if sum(f"items/{count}-{part}" in found for part in range(3)) != 3:
                    table.violate(row, "acknowledged and lost", f"write {number}, commit {count}")
            for count, code in refused:
                there = sum(f"items/{count}-{part}" in found for part in range(3))
                if there == 3 and code == "RESOURCE_EXHAUSTED":
                    table.violate(row, "refused but applied", f"write {number}, commit {count}")
                elif there not in (0, 3):
                    table.violate(row, "half there", f"write {number}, commit {count}")
            table.add(row, "all kept" if not refused else "refused some, kept the others")


def prepare(home):
    import_many(home, "items", 1500, "x" * 300)
    status, output, errors = run(home, "export", "items", "--data", f"{home}/data")
    assert status == 0 and output.count("\n") == 1500, errors
    return output


def export_to_full(table):
    """On a file system of 256 kB, for an output of 600 kB, and on one that is full already."""
    with folder() as home:
        expected = prepare(home)
        small = home / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], check=True)
        try:
            for room in range(0, 240, 40):
                for old in small.iterdir():
                    old.unlink()
                (small / "filling").write_bytes(b"0" * room * 1024)
                (small / "out.jsonl").write_text("the old one\n")
                status, _, errors = run(home, "export", "items", "-o", "small/out.jsonl", "--data", f"{home}/data")
                left = {path.name for path in small.iterdir()} - {"filling", "out.jsonl"}
                if (small / "out.jsonl").read_text() != "the old one\n":
                    table.violate("export", "the old file is gone", f"{room} kB")
                elif status in (0, 124) or crashed(status) or not errors:
                    table.violate("export", "not told", f"status {status} {one_line(errors)}")
                elif left:
                    table.violate("export", "half a file is left", str(left))
                else:
                    table.add("export", f"status {status}, the old file is there")
            status, _, errors = run(home, "export", "items", "-o", "out.jsonl", "--data", f"{home}/data")
            if status or (home / "out.jsonl").read_text() != expected:
                table.violate("export", "wrong afterwards", one_line(errors))
            with open("/dev/full", "w") as full:
                status, _, errors = run(home, "export", "items", "--data", f"{home}/data", stdout=full)
            if status != 74:
                table.violate("export", "to /dev/full", f"status {status} {one_line(errors)}")
            else:
                table.add("export", "to /dev/full: 74")
        finally:
            subprocess.run(["umount", str(small)], check=True)


def import_to_full(table):
    with folder() as place:
        whole = place / "whole"
        whole.mkdir()
        expected = prepare(whole)
        for number in range(FIRST, LAST, STEP * 2):
            home = place / f"at-{number}"
            home.mkdir()
            shutil.copy(whole / "in.jsonl", home)
            arguments = ("import", "in.jsonl", "--data", f"{home}/data")
            status, _, errors = run(home, *arguments, timeout=120, before=full_from(number))
            if status == 124 or crashed(status):
                table.violate("import", "crashed or hung", f"write {number}: status {status}")
            elif status == 0:
                table.add("import", "got through")
            elif not errors:
                table.violate("import", "silent", f"write {number}")
            else:
                table.add("import", f"status {status}")
            status, _, errors = run(home, *arguments)
            found = run(home, "export", "items", "--data", f"{home}/data")[1]
            if status or found != expected:
                table.violate("import", "not completed by the same command", f"write {number}: {one_line(errors)}")
            shutil.rmtree(home)


def disk():
    if not shutil.which("strace"):
        sys.exit("This attack needs strace: apt-get install strace")
    table = Table("a full disk at every write")
    serve_on_full(table)
    export_to_full(table)
    import_to_full(table)
    return table.finish()


# files

def damaged(table):
    """Nobody has the data open."""
    def cut(path, size):
        with open(path, "r+b") as file:
            file.truncate(size)

    damages = {
        "an empty database": lambda data: cut(data / "backend.sqlite3", 0),
        "a database of half a header": lambda data: cut(data / "backend.sqlite3", 50),
        "a database of one page": lambda data: cut(data / "backend.sqlite3", 4096),
        "a database of noise": lambda data: (data / "backend.sqlite3").write_bytes(random.randbytes(8192)),
        "a database of zeros": lambda data: (data / "backend.sqlite3").write_bytes(bytes(8192)),
    }
    for name, damage in damages.items():
        with folder() as home:
            import_many(home, "c", 200)
            damage(home / "data")
            (home / "backup").write_text("the last good one")
            for words in (["export", "--all", "-o", "backup"], ["get", "c"], ["get", "c/0001"], ["count", "c"], ["ls"], ["tree"],
                          ["stats"], ["schema", "c"], ["set", "c/0001", "n=1"], ["repair"], ["repair", "--yes"]):
                status, output, errors = run(home, *words, "--data", f"{home}/data")
                if status in (0, 4) or crashed(status) or status == 124:
                    table.violate(name, "not told", f"{' '.join(words)}: status {status}: {one_line(output + errors, 80)}")
                else:
                    table.add(name, f"told with {status}")
            if (home / "backup").read_text() != "the last good one":
                table.violate(name, "the backup is gone", "export -o")


def put(server, n):
    """The status of a write by REST."""
    return status_of(server.address, "PATCH", f"/v1/{DOCUMENTS}/c/{n}", json.dumps({"fields": {"n": {"integerValue": str(n)}}}),
                     authorization="Bearer owner")


def lost(table):
    """A server has them open. Two seconds later nothing may be accepted that is not there afterwards."""
    def replaced(data):
        (data / "other").write_bytes((data / "backend.sqlite3").read_bytes())
        (data / "other").rename(data / "backend.sqlite3")

    losses = {
        "the folder is removed": lambda data: shutil.rmtree(data),
        "the folder is renamed": lambda data: data.rename(data.parent / "elsewhere"),
        "the database is removed": lambda data: (data / "backend.sqlite3").unlink(),
        "the log is removed": lambda data: (data / "backend.sqlite3-wal").unlink(),
        "the database is replaced": replaced,
    }
    for name, lose in losses.items():
        with folder() as home:
            server = serve(home, "--data", f"{home}/data")
            try:
                for n in range(50):
                    assert put(server, n) == 200
                lose(home / "data")
                time.sleep(2)
                accepted = [n for n in range(100, 130) if put(server, n) == 200]
                said = server.said()
            finally:
                server.end(signal.SIGKILL)
            found = set()
            for data in (home / "data", home / "elsewhere"):
                if (data / "backend.sqlite3").exists():
                    found |= {int(path[2:]) for path in exported(home, data, "c")[2]}
            lost = [n for n in accepted if n not in found]
            if lost:
                table.violate(name, "accepted and lost", f"{len(lost)} writes")
            elif accepted:
                table.add(name, "accepted and there", len(accepted))
            else:
                table.add(name, "refused", 30)
            if not said and not accepted:
                table.violate(name, "not told", "nothing on standard error")
            elif said:
                table.add(name, f"told: {one_line(said, 70)}")


def damaged_logs(table):
    """The log of a killed server, cut at random places, deleted, or replaced by an older one."""
    for row in ("cut", "gone", "of an older time"):
        for _ in range(8 if row == "cut" else 1):
            with folder() as home:
                data = home / "data"
                server = serve(home, "--data", str(data))
                older = None
                for n in range(60):
                    assert put(server, n) == 200
                    if n == 20:
                        older = (data / "backend.sqlite3-wal").read_bytes()
                server.end(signal.SIGKILL)
                log = data / "backend.sqlite3-wal"
                if row == "cut":
                    size = log.stat().st_size
                    os.truncate(log, random.randrange(0, size))
                elif row == "gone":
                    log.unlink()
                else:
                    log.write_bytes(older)
                # SQLite's recovery decides: the data opens, as an earlier commit left it.
                status, output, documents, errors = exported(home, data, "c")
                found = sorted(int(path[2:]) for path in documents)
                # 4: the collection has no documents.
                if status not in (0, 4):
                    table.violate(f"log {row}", f"status {status}", one_line(output + errors, 80))
                elif found != list(range(len(found))):
                    table.violate(f"log {row}", "not an earlier commit", f"{len(found)} of 60 documents")
                else:
                    table.add(row, "whole" if len(found) == 60 else "an earlier commit")


def files():
    table = Table("files that are emptied, taken away or of another time")
    damaged(table)
    lost(table)
    damaged_logs(table)
    return table.finish()


perform(kills=kills, corruption=corruption, disk=disk, files=files)
