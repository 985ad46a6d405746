# SPDX-License-Identifier: Apache-2.0
"""Every command in places where it cannot work as usual.

streams: each of its standard streams closed, and output and errors on /dev/full: none crashes or hangs, output that is the
command's job and cannot be written is 74, and the data are whole afterwards.
processes: two processes on one data directory, on one cache, on one port: the second works or says in a line why not, none hangs,
and what was acknowledged is there afterwards."""
import threading
from attack import *

# streams

# What a command prints is its job; `ends` by itself.
PRINTING = {"get a document", "get a collection", "export", "indexes", "explain", "keys"}


def commands(home):
    data = ["--data", f"{home}/data"]
    return {
        "help": ["--help"], "keys": ["keys"], "completion": ["--generate-completion-script", "bash"],
        "get a document": ["get", "items/0001", *data], "get a collection": ["get", "items", *data],
        "set": ["set", "items/0001", '{"n": 1, "t": ""}', *data], "update": ["update", "items/0001", "n=1", *data],
        "delete": ["delete", "items/none", *data], "export": ["export", "items", *data],
        "export -o": ["export", "items", "-o", "out.jsonl", *data],
        "import": ["import", "in.jsonl", *data], "import -": ["import", "-", *data],
        "watch": ["watch", "items", "--until", "removed", "--timeout", "1s", *data],
        "explain": ["explain", "items", *data, "--cache", f"{home}/cache"],
        "indexes": ["cache", "indexes", *data, "--cache", f"{home}/cache"],
        "play": ["play", "--in-memory", "scenario"], "serve": ["serve", "--port", "0", *data],
        "dashboard": ["--in-memory"],
    }


def states():
    yield "stdin closed", {"preexec_fn": lambda: os.close(0), "stdin": None}
    yield "stdout closed", {"preexec_fn": lambda: os.close(1), "stdout": None}
    yield "stderr closed", {"preexec_fn": lambda: os.close(2), "stderr": None}
    yield "all closed", {"preexec_fn": lambda: [os.close(number) for number in range(3)],
                         "stdin": None, "stdout": None, "stderr": None}
    full = open("/dev/full", "w")
    yield "stdout full", {"stdout": full}
    yield "stderr full", {"stderr": full}
    yield "both full", {"stdout": full, "stderr": full}


def use_streams(table, home, state, more, name, arguments):
    # These end when told to; whether they started cannot be seen without their output.
    before = ("timeout", "--preserve-status", "1.5") if name in ("serve", "dashboard") else ()
    status = run(home, *arguments, timeout=30, before=before, **more)[0]
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


def streams():
    table = Table("standard streams, closed and full")
    for state, more in states():
        with folder() as home:
            import_many(home, "items", 50)
            (home / "scenario").write_text("listen items\nset items/1 {\"n\": 1}\nexpect added items/1 within 5s\n")
            # Without one `indexes` has nothing to write.
            (home / "indexes.json").write_text(json.dumps({"indexes": [
                {"collectionGroup": "items", "fields": [{"fieldPath": "n", "order": "ASCENDING"}]}]}))
            own = ["--data", f"{home}/data", "--cache", f"{home}/cache"]
            assert run(home, "cache", "indexes", "--set", "indexes.json", *own)[0] == 0
            before = run(home, "export", "items", "--data", f"{home}/data")[1]
            assert before.count("\n") == 50
            for name, arguments in commands(home).items():
                use_streams(table, home, state, more, name, arguments)
            status, after, errors = run(home, "export", "items", "--data", f"{home}/data")
            if status or after != before or errors:
                table.violate(state, "the data changed", one_line(errors))
    return table.finish()


# processes

def holders(home):
    """What holds a data directory open."""
    data = ["--data", f"{home}/data", "--project", PROJECT]
    yield "serve", lambda: serve(home, "--data", f"{home}/data")
    yield "dashboard", lambda: started(dashboard(home, *data, "--cache", f"{home}/cache"))
    yield "watch", lambda: Watching(home, data)


def started(screen):
    screen.wait("ONLINE")
    return screen


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
        if status == 69 and "serves the data on a port" in errors:
            return table.add(row, "69, names the other")
        return table.violate(row, f"status {status}", one_line(errors))
    try:
        server = serve(home, "--data", f"{home}/data")
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
        server = serve(home, "--in-memory")
        place = ["--emulator", server.address, "--project", PROJECT, "--cache", f"{home}/cache"]
        run(home, "set", "items/1", '{"n": 1}', *place)
        first = started(dashboard(home, *place))
        second = started(dashboard(home, *place))
        second.go_on(2)
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
        for screen in (second, first):
            if (status := screen.end(signal.SIGTERM)) not in (0, 143):
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
        server = serve(home, "--in-memory")
        port = server.address.split(":")[1]
        status, _, errors = run(home, "serve", "--in-memory", "--port", port, timeout=20)
        if status in (0, 124) or crashed(status) or port not in errors:
            table.violate("one port", f"status {status}", one_line(errors))
        else:
            table.add("one port", f"status {status}, names the port")
        server.end()


def processes():
    table = Table("two processes on everything")
    one_directory(table)
    one_cache(table)
    at_once(table)
    one_port(table)
    return table.finish()


perform(streams=streams, processes=processes)
