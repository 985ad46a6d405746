#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two processes on one data directory, on one cache, on one port: the second works or says in a line why not, nobody hangs,
and what was acknowledged is there afterwards."""
import json, signal, threading
from common import *


def holders(home):
    """What holds a data directory open."""
    data = ["--data", f"{home}/data", "--project", PROJECT]
    yield "serve", lambda: Server(home, "--data", f"{home}/data")
    yield "dashboard", lambda: started(Dashboard(home, *data, "--cache", f"{home}/cache"))
    yield "watch", lambda: watching(home, data)


def started(dashboard):
    dashboard.wait("ONLINE")
    return dashboard


class Watching:
    def __init__(self, home, arguments):
        self.process = subprocess.Popen(
            [HEARTH, "watch", "items", *arguments], env=environment(home), cwd=home, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdout.readline()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.communicate(timeout=20)
        return self.process.returncode


def watching(home, data):
    return Watching(home, data)


def seconds(home):
    """What comes second."""
    data = ["--data", f"{home}/data", "--project", PROJECT]
    return {
        "get": ["get", "items/1", *data], "set": ["set", "items/2", '{"n": 2}', *data],
        "delete": ["delete", "items/9", *data], "export": ["export", "items", *data],
        "import": ["import", "in.jsonl", *data], "watch": ["watch", "items", "--until", "added", "--timeout", "20s", *data],
        "play": ["play", "scenario", *data],
    }


def one_directory(table):
    with folder() as home:
        (home / "in.jsonl").write_text(json.dumps({"path": "items/3", "data": {"n": 3}}) + "\n")
        (home / "scenario").write_text("listen items\nexpect added items/1 within 5s\n")
        for name, start in holders(home):
            status, _, errors = run(home, "set", "items/1", '{"n": 1}', "--data", f"{home}/data", "--project", PROJECT)
            if status:
                table.violate(name, "set failed before", one_line(errors))
            holder = start()
            for second, arguments in seconds(home).items():
                row = f"{name}, then {second}"
                status, _, errors = run(home, *arguments, timeout=30)
                lines = [line for line in errors.splitlines() if line.strip()]
                if crashed(status) or status == 124:
                    table.violate(row, "crashed or hung", f"status {status}")
                elif status == 69 and len(lines) == 1:
                    table.add(row, "69, one line")
                elif status == 0:
                    table.add(row, "works")
                else:
                    table.violate(row, f"status {status}", one_line(errors))
            serve_beside(home, name, table)
            end = holder.end(signal.SIGTERM)
            if end not in (0, 143, -15):
                table.violate(name, "did not end well", f"status {end}")
        status, output, errors = run(home, "get", "items/1", "--data", f"{home}/data", "--project", PROJECT)
        if status or '"n": 1' not in output:
            table.violate("one directory", "lost", one_line(errors))


def serve_beside(home, name, table):
    """A server takes the data over from any other process, which goes on beside it: what is written through the server is
    seen by others, and it ends when it is told to. Beside another server it ends with 69 and names that one."""
    row = f"{name}, then serve"
    if name == "serve":
        status, _, errors = run(home, "serve", "--data", f"{home}/data", "--port", "0", timeout=30)
        if status == 69 and "serves it on a port" in errors:
            return table.add(row, "69, names the other")
        return table.violate(row, f"status {status}", one_line(errors))
    try:
        server = Server(home, "--data", f"{home}/data")
    except RuntimeError as failure:
        return table.violate(row, "did not start", one_line(str(failure)))
    place = ["--emulator", server.address, "--project", PROJECT]
    status, _, errors = run(home, "set", "items/4", '{"n": 4}', *place)
    seen, _, _ = run(home, "get", "items/4", "--data", f"{home}/data", "--project", PROJECT)
    end = server.end()
    if status or seen or end not in (0, 143, -15):
        table.violate(row, f"set {status}, get {seen}, end {end}", one_line(errors))
    else:
        table.add(row, "works")


def one_cache(table):
    """Two dashboards with one cache at one server, and commands that read the cache meanwhile."""
    with folder() as home:
        server = Server(home, "--in-memory")
        place = ["--emulator", server.address, "--project", PROJECT, "--cache", f"{home}/cache"]
        run(home, "set", "items/1", '{"n": 1}', *place)
        first = started(Dashboard(home, *place))
        second = started(Dashboard(home, *place))
        second.read(2)
        told = b"memory" in second.screen.lower() or b"mem" in second.screen.lower()
        table.add("one cache, dashboards", "second is told") if told else table.violate(
            "one cache, dashboards", "second is not told", "no word of memory on its screen")
        for name, arguments in {
            "explain": ["explain", "items", *place], "indexes": ["cache", "indexes", *place],
            "get --source cache": ["get", "items", "--source", "cache", *place], "get": ["get", "items", *place],
        }.items():
            status, _, errors = run(home, *arguments, timeout=30)
            if crashed(status) or status == 124 or (status and not errors):
                table.violate(f"one cache, {name}", f"status {status}", one_line(errors))
            else:
                table.add(f"one cache, {name}", f"status {status}" + (", told" if errors else ""))
        for dashboard in (second, first):
            if (status := dashboard.end(signal.SIGTERM)) not in (0, 143):
                table.violate("one cache, dashboards", "did not end well", f"status {status}")
        server.end()


def at_once(table):
    """Twenty writers in processes of their own at one directory: each writes or is refused, none is lost."""
    with folder() as home:
        results = {}

        def write(number):
            results[number] = run(home, "set", f"items/{number}", '{"n": 1}', "--data", f"{home}/data", timeout=60)

        threads = [threading.Thread(target=write, args=[number]) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status, output, errors = run(home, "export", "items", "--data", f"{home}/data")
        there = {json.loads(line)["path"] for line in output.splitlines()}
        for number, (status, _, errors) in results.items():
            if status == 0 and f"items/{number}" not in there:
                table.violate("twenty at once", "acknowledged and lost", f"items/{number}")
            elif status not in (0, 69):
                table.violate("twenty at once", f"status {status}", one_line(errors))
            else:
                table.add("twenty at once", "written" if status == 0 else "69")


def one_port(table):
    with folder() as home:
        server = Server(home, "--in-memory")
        port = server.address.split(":")[1]
        status, _, errors = run(home, "serve", "--in-memory", "--port", port, timeout=20)
        if status in (0, 124) or crashed(status) or port not in errors:
            table.violate("one port", f"status {status}", one_line(errors))
        else:
            table.add("one port", f"status {status}, names the port")
        server.end()


def main():
    table = Table("two processes on everything")
    one_directory(table)
    one_cache(table)
    at_once(table)
    one_port(table)
    table.finish()


main()
