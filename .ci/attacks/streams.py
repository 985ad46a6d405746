#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command with each of its standard streams closed, and with output and errors on /dev/full: none crashes or hangs,
output that is the command's job and cannot be written is 74, and the data are whole afterwards."""
import json, os
from common import *

# What a command prints is its job; `ends` by itself.
PRINTING = {"get a document", "get a collection", "export", "indexes", "explain", "keys"}


def commands(home):
    data = ["--data", f"{home}/data"]
    return {
        "help": ["--help"], "keys": ["keys"], "completion": ["--generate-completion-script", "bash"],
        "get a document": ["get", "items/1", *data], "get a collection": ["get", "items", *data],
        "set": ["set", "items/1", '{"n": 1}', *data], "update": ["update", "items/1", "n=1", *data],
        "delete": ["delete", "items/none", *data], "export": ["export", "items", *data],
        "export -o": ["export", "items", "-o", "out.jsonl", *data],
        "import": ["import", "in.jsonl", *data], "import -": ["import", "-", *data],
        "watch": ["watch", "items", "--until", "removed", "--timeout", "1s", *data],
        "explain": ["explain", "items", *data, "--cache", f"{home}/cache"],
        "indexes": ["cache", "indexes", *data, "--cache", f"{home}/cache"],
        "play": ["play", "--in-memory", "scenario"], "serve": ["serve", "--port", "0", *data],
        "dashboard": ["--in-memory"],
    }


def closed(number):
    def close():
        os.close(number)
    return close


def states():
    yield "stdin closed", {"preexec_fn": closed(0), "stdin": None}
    yield "stdout closed", {"preexec_fn": closed(1), "stdout": None}
    yield "stderr closed", {"preexec_fn": closed(2), "stderr": None}
    yield "all closed", {"preexec_fn": lambda: [os.close(number) for number in range(3)],
                         "stdin": None, "stdout": None, "stderr": None}
    full = open("/dev/full", "w")
    yield "stdout full", {"stdout": full}
    yield "stderr full", {"stderr": full}
    yield "both full", {"stdout": full, "stderr": full}


def use(table, home, state, more, name, arguments):
    if name in ("serve", "dashboard"):
        # Ends when told to; whether it started cannot be seen without its output.
        process = subprocess.Popen(
            [HEARTH, *arguments], env=environment(home), cwd=home, start_new_session=True,
            **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more))
        time.sleep(1.5)
        process.terminate()
        try:
            process.communicate(timeout=20)
            status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            status = 124
    else:
        status = run(home, *arguments, timeout=30, **more)[0]
    if crashed(status):
        table.violate(state, "crashed", f"{name}: status {status}")
    elif status == 124:
        table.violate(state, "hangs", name)
    elif name in PRINTING and state in ("stdout full", "both full") and status != 74:
        table.violate(state, "not 74", f"{name}: status {status}")
    elif name in PRINTING and state in ("stdout closed", "all closed") and status not in (74, 0):
        table.violate(state, "neither 74 nor 0", f"{name}: status {status}")
    elif name in ("set", "update", "delete", "import", "export -o") and status not in (0, 74):
        table.violate(state, "neither done nor 74", f"{name}: status {status}")
    else:
        table.add(state, "held")


def main():
    table = Table("standard streams, closed and full")
    for state, more in states():
        with folder() as home:
            lines = "".join(json.dumps({"path": f"items/{number}", "data": {"n": number}}) + "\n" for number in range(50))
            (home / "in.jsonl").write_text(lines)
            (home / "scenario").write_text("listen items\nset items/1 {\"n\": 1}\nexpect added items/1 within 5s\n")
            assert run(home, "import", "in.jsonl", "--data", f"{home}/data")[0] == 0
            # Without one `indexes` has nothing to write.
            (home / "indexes.json").write_text(json.dumps({"indexes": [
                {"collectionGroup": "items", "fields": [{"fieldPath": "n", "order": "ASCENDING"}]}]}))
            own = ["--data", f"{home}/data", "--cache", f"{home}/cache"]
            assert run(home, "cache", "indexes", "--set", "indexes.json", *own)[0] == 0
            before = run(home, "export", "items", "--data", f"{home}/data")[1]
            assert before.count("\n") == 50
            for name, arguments in commands(home).items():
                use(table, home, state, more, name, arguments)
            status, after, errors = run(home, "export", "items", "--data", f"{home}/data")
            if status or after != before or errors:
                table.violate(state, "the data changed", one_line(errors))
    table.finish()


main()
