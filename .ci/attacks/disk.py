#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The disk is full at every write in turn: strace lets the n-th and all later `pwrite64` and `write` into files fail with
ENOSPC, for each n until a command gets through. `serve` must refuse what it does not keep and keep what it acknowledged;
`export` must leave the old file; `import` must say so and be completed by the same command. Needs strace."""
import json, os, shutil, signal
from common import *

FIRST, LAST, STEP = 1, int(os.environ.get("HEARTH_ATTACK_WRITES", 60)), int(os.environ.get("HEARTH_ATTACK_STEP", 2))


def full_from(number):
    """Words that run a program on a disk that is full from its n-th write on. SQLite writes with pwrite64 only."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64",
            "-e", f"inject=pwrite64:error=ENOSPC:when={number}+"]


def run_full(home, number, *arguments):
    """`run` on such a disk."""
    global_hearth, words = HEARTH, full_from(number)
    script = home / "full"
    script.write_text("#!/bin/sh\nexec " + " ".join(words) + f" {global_hearth} \"$@\"\n")
    script.chmod(0o755)
    import common
    common.HEARTH = str(script)
    try:
        return run(home, *arguments, timeout=120)
    finally:
        common.HEARTH = global_hearth


def serve(table):
    for number in range(FIRST, LAST, STEP):
        with folder() as home:
            row = "serve"
            kept, refused = [], []
            try:
                server = Server(home, "--data", f"{home}/data", before=full_from(number))
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
                server = Server(home, "--data", f"{home}/data")
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
    lines = "".join(json.dumps({"path": f"items/{number:04}", "data": {"n": number, "t": "x" * 300}}) + "\n"
                    for number in range(1500))
    (home / "in.jsonl").write_text(lines)
    status, _, errors = run(home, "import", "in.jsonl", "--data", f"{home}/data")
    assert status == 0, errors
    status, exported, errors = run(home, "export", "items", "--data", f"{home}/data")
    assert status == 0 and exported.count("\n") == 1500, errors
    return exported


def export(table):
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


def importing(table):
    with folder() as place:
        whole = place / "whole"
        whole.mkdir()
        expected = prepare(whole)
        for number in range(FIRST, LAST, STEP * 2):
            home = place / f"at-{number}"
            home.mkdir()
            shutil.copy(whole / "in.jsonl", home)
            arguments = ("import", "in.jsonl", "--data", f"{home}/data")
            status, _, errors = run_full(home, number, *arguments)
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


def main():
    if not shutil.which("strace"):
        sys.exit("This attack needs strace: apt-get install strace")
    table = Table("a full disk at every write")
    serve(table)
    export(table)
    importing(table)
    table.finish()


main()
