#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are emptied, taken away or those of another time, while a server has them open and while nobody has: what is gone
is told, and no write is accepted that is nowhere."""
import http.client, json, random
from common import *

DOCUMENTS_OF = 200


def fill(home, count=DOCUMENTS_OF):
    lines = "".join(json.dumps({"path": f"c/{n}", "data": {"n": n}}) + "\n" for n in range(count))
    (home / "in.jsonl").write_text(lines)
    assert run(home, "import", "in.jsonl", "--data", f"{home}/data")[0] == 0


def closed(table):
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
            fill(home)
            damage(home / "data")
            (home / "backup").write_text("the last good one")
            for words in (["export", "--all", "-o", "backup"], ["get", "c"], ["get", "c/1"], ["count", "c"], ["ls"], ["tree"],
                          ["stats"], ["schema", "c"], ["set", "c/1", "n=1"], ["repair"], ["repair", "--yes"]):
                status, output, errors = run(home, *words, "--data", f"{home}/data")
                if status in (0, 4) or crashed(status) or status == 124:
                    table.violate(name, "not told", f"{' '.join(words)}: status {status}: {one_line(output + errors, 80)}")
                else:
                    table.add(name, f"told with {status}")
            if (home / "backup").read_text() != "the last good one":
                table.violate(name, "the backup is gone", "export -o")


def write(server, n):
    connection = http.client.HTTPConnection(server.address, timeout=10)
    try:
        connection.request("PATCH", f"/v1/{DOCUMENTS}/c/{n}", json.dumps({"fields": {"n": {"integerValue": str(n)}}}),
                           {"authorization": "Bearer owner", "content-type": "application/json"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def opened(table):
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
            server = Server(home, "--data", f"{home}/data")
            try:
                for n in range(50):
                    assert write(server, n) == 200
                lose(home / "data")
                time.sleep(2)
                accepted = [n for n in range(100, 130) if write(server, n) == 200]
                said = server.said()
            finally:
                server.end(signal.SIGKILL)
            found = set()
            for data in (home / "data", home / "elsewhere"):
                if (data / "backend.sqlite3").exists():
                    output = run(home, "export", "c", "--data", str(data), "--project", PROJECT)[1]
                    found |= {int(json.loads(line)["path"][2:]) for line in output.splitlines() if line.startswith("{")}
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


def logs(table):
    """The log of a killed server, cut at random places, deleted, or replaced by an older one."""
    for row in ("cut", "gone", "of an older time"):
        for _ in range(8 if row == "cut" else 1):
            with folder() as home:
                data = home / "data"
                server = Server(home, "--data", str(data))
                older = None
                for n in range(60):
                    assert write(server, n) == 200
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
                status, output, errors = run(home, "export", "c", "--data", str(data), "--project", PROJECT)
                found = sorted(int(json.loads(line)["path"][2:]) for line in output.splitlines() if line.startswith("{"))
                # 4: the collection has no documents.
                if status not in (0, 4):
                    table.violate(f"log {row}", f"status {status}", one_line(output + errors, 80))
                elif found != list(range(len(found))):
                    table.violate(f"log {row}", "not an earlier commit", f"{len(found)} of 60 documents")
                else:
                    table.add(row, "whole" if len(found) == 60 else "an earlier commit")


def main():
    table = Table("files that are emptied, taken away or of another time")
    closed(table)
    opened(table)
    logs(table)
    table.finish()


main()
