# SPDX-License-Identifier: Apache-2.0
"""The cases of .ci/measure that need Google's packages: `clients` and `emulator`. Run as a program, it is Google's client for
Python at FIRESTORE_EMULATOR_HOST, and does and prints what `hearth-bench --served-client` does: listen|change|write."""
import multiprocessing, pathlib, queue, random, resource, string, sys, threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "library"))
from programs import *
from wire import *

PROJECT, CHANGES, WRITES = "compare", 1000, 2000
DATABASE = f"projects/{PROJECT}/databases/(default)"
DOCUMENTS = DATABASE + "/documents"
# Google's emulator ends a Listen without the second.
CALLER = OWNER + [("google-cloud-resource-prefix", DATABASE)]
LETTERS = string.ascii_letters + string.digits


def text(count, source):
    return "".join(source.choices(LETTERS, k=count))


def city(number, source):
    """A document of about 460 bytes and 12 fields, as hearth-bench has them."""
    return {
        "name": "City of " + text(12, source), "state": f"state-{source.randrange(50):02}",
        "country": f"country-{source.randrange(200)}", "population": source.randrange(1_000, 40_000_000),
        "elevation": source.randrange(4_000), "area": source.uniform(1, 10_000), "rating": source.uniform(0, 5),
        "isCapital": number % 40 == 0, "description": text(150, source),
        "location": {"latitude": source.uniform(-90, 90), "longitude": source.uniform(-180, 180), "zone": f"UTC+{number % 12}"},
        "tags": [f"tag-{source.randrange(100)}" for _ in range(3)]}


def value(content):
    """A Value of a Python value; None is a time, the founding of a city."""
    from google.cloud.firestore_v1.types import document
    if isinstance(content, dict):
        return document.Value(map_value={"fields": {name: value(inner) for name, inner in content.items()}})
    if isinstance(content, list):
        return document.Value(array_value={"values": [value(inner) for inner in content]})
    if content is None:
        return document.Value(timestamp_value={"seconds": -1_600_000_000})
    kinds = {bool: "boolean_value", int: "integer_value", float: "double_value", str: "string_value"}
    return document.Value(**{kinds[type(content)]: content})


def commit_request(documents):
    """The bytes of a request that sets documents, by path."""
    from google.cloud.firestore_v1.types import document, firestore, write
    request = firestore.CommitRequest(database=DATABASE, writes=[
        write.Write(update=document.Document(
            name=f"{DOCUMENTS}/{path}", fields={name: value(content) for name, content in fields.items()}))
        for path, fields in documents.items()])
    return type(request).pb(request).SerializeToString()


# Google's client for Python.

def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Start:
    def __init__(self):
        self.time, self.processor = time.perf_counter(), processor_seconds()

    def result(self, count, latencies=()):
        return {
            "count": count, "seconds": time.perf_counter() - self.time, "processorSeconds": processor_seconds() - self.processor,
            "allocations": None, "latencies": list(latencies), "peak": Process("self").memory("VmHWM") * 1.048576}


def listen(client):
    first, start = queue.Queue(), Start()
    watch = client.collection("cities").on_snapshot(lambda documents, changes, time: first.put(len(documents)))
    result = start.result(first.get())
    watch.unsubscribe()
    return result


def change(client):
    seen = queue.Queue()

    def called(documents, changes, read_time):
        now = time.time_ns()
        if documents:
            data = documents[0].to_dict()
            seen.put((data["number"], (now - data["sent"]) / 1e9))

    start, latencies, number = Start(), [], None
    watch = client.collection("changes").on_snapshot(called)
    while number != CHANGES - 1:
        number, latency = seen.get()
        if number < 0:
            print("ready", flush=True)
        else:
            latencies.append(latency)
    result = start.result(len(latencies), latencies)
    watch.unsubscribe()
    return result


def write(client):
    document = client.collection("writes").document()
    document.set({"number": -1})
    start, latencies = Start(), []
    for number in range(WRITES):
        begun = time.perf_counter()
        document.update({"number": number})
        latencies.append(time.perf_counter() - begun)
    return start.result(len(latencies), latencies)


# The comparison of clients.

def go_client(folder):
    """Builds the program of Google's client for Go; `None` where Debian's packages are missing."""
    gopath = os.environ.get("HEARTH_GOPATH", "/usr/share/gocode")
    if not os.path.isdir(f"{gopath}/src/cloud.google.com/go/firestore"):
        print("Go: NOT RUN, golang-google-cloud-dev is not installed")
        return None
    program = f"{folder}/client"
    subprocess.run(
        [os.environ.get("HEARTH_GO", "go"), "build", "-o", program, ROOT / ".ci/clients/client.go"], check=True,
        env=os.environ | {"GO111MODULE": "off", "GOPATH": gopath, "GOCACHE": f"{folder}/go", "GOFLAGS": ""})
    return program


def run(command, address, work, seconds):
    """One client's report; `None` if it has not ended in time."""
    arguments = [argument.replace("WORK", work).replace("ADDRESS", address) for argument in command]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, env=os.environ | {"FIRESTORE_EMULATOR_HOST": address})
    ended = threading.Timer(seconds, process.kill)
    ended.start()
    try:
        if work == "change":
            # Another client, as bare as can be: commits that tell when they were sent.
            other = Connection(address)

            def commit(number):
                fields = {"number": number, "sent": time.time_ns()}
                other.call("Commit", framed(commit_request({"changes/one": fields})))

            commit(-1)
            if process.stdout.readline() == "ready\n":
                begun = time.monotonic()
                # One in three milliseconds, so that every client sees each.
                for number in range(CHANGES):
                    commit(number)
                    time.sleep(max(0, begun + 0.003 * (number + 1) - time.monotonic()))
        output = process.stdout.read()
        process.wait()
    finally:
        ended.cancel()
    if process.returncode == -signal.SIGKILL:
        return None
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}.")
    return json.loads(output.strip().splitlines()[-1])


def client_figures(work, result, documents):
    if work == "listen":
        if result["count"] != documents:
            raise RuntimeError(f"{result['count']} documents came of {documents}.")
        figures = {"first sync, documents/s": documents / result["seconds"],
                   "first sync, processor s": result["processorSeconds"], "first sync, peak MB": result["peak"]}
        if result["allocations"] is not None:
            figures["first sync, allocations/document"] = result["allocations"] / documents
        return figures
    name, times = {"change": "change to callback", "write": "write to answer"}[work], result["latencies"]
    figures = {f"{name}, p50 us": percentile(times, 50) * 1e6, f"{name}, p99 us": percentile(times, 99) * 1e6,
               f"{name}, peak MB": result["peak"]}
    return figures | ({"change to callback, seen of 1000": len(times)} if work == "change" else {})


def print_columns(figures, titles, rounds, note=""):
    print(f"median of {rounds}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors{note}")
    print(f"{'':45}" + "".join(f"{titles[name]:>16}" for name in figures))
    for key in dict.fromkeys(key for of in figures.values() for key in of):
        cells = [f"{of[key]:.1f}" if key in of else "-" for of in figures.values()]
        print(f"{key:45}" + "".join(f"{cell:>16}" for cell in cells))


def clients(options):
    """The first sync of a collection by a listener, another client's change until the callback, a write until its
    acknowledgement: medians of rounds in which the clients take turns. Google's clients hold no cache of what they have seen;
    Hearth's is measured with its cache in memory and on disk."""
    bench = found_hearth(pathlib.Path(options.hearth).with_name("hearth-bench"))
    titles = {"memory": "Hearth, memory", "disk": "Hearth, disk", "go": "Go", "python": "Python"}
    with folder() as home, hearth_server(options.hearth) as server:
        served = [bench, "--served-client", "WORK", "--served-at", "ADDRESS", "--cache"]
        commands = {"memory": [*served, "memory"], "disk": [*served, "disk"], "go": [go_client(home), "WORK"],
                    "python": [sys.executable, __file__, "WORK"]}
        commands = {name: command for name, command in commands.items() if command[0] and name in (options.only or titles)}
        results, late, source = {name: [] for name in commands}, set(), random.Random(1)
        import_documents(options.hearth, home, ({"id": text(20, source)} | city(number, source) for number in range(
            options.documents)), "cities", "--emulator", server.address, "--project", PROJECT)
        for _ in range(options.rounds):
            rounds = {name: {} for name in commands}
            for work in ("listen", "change", "write"):
                for name, command in commands.items():
                    result = None if (name, work) in late else run(command, server.address, work, options.seconds)
                    if result is not None:
                        rounds[name] |= client_figures(work, result, options.documents)
                    elif (name, work) not in late:
                        print(f"{name} {work}: not within {options.seconds:.0f} s")
                        late.add((name, work))
            for name, row in rounds.items():
                results[name].append(row)
        peak = server.memory("VmHWM")
    figures = {name: medians(rows) for name, rows in results.items()}
    print_columns(figures, titles, options.rounds, f"; {options.documents} documents; the server's peak {peak:.0f} MB")
    save(results, options.json)
    goal, missed = 3, False
    rate, memory = "first sync, documents/s", "first sync, peak MB"
    for name in ("memory", "disk"):
        if name in figures and rate in figures.get("go", {}):
            ours, go = figures[name], figures["go"]
            times = ours[rate] / go[rate]
            reached = times >= goal and ours[memory] < go[memory]
            missed |= not reached
            print(f"{titles[name]}: the first sync {times:.1f} times as fast as Go's (goal {goal}), in "
                  f"{ours[memory] / go[memory]:.2f} of its memory: {'reached' if reached else 'MISSED'}")
    return missed


# The comparison of servers.

# As an app has them: who is signed in, a document's owner, another document that is looked at.
RULES = """rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    function isMember() {
      return exists(/databases/$(database)/documents/unary/one) && request.auth.token.email.matches('.*@example[.]com');
    }
    match /unary/{city} {
      allow read, write: if request.auth != null && request.auth.uid == 'ada' && isMember();
    }
  }
}
"""
# The figures of the page, their words there, and whether more is better.
PAGE = [
    ("ready ms", "start until the port answers, ms", False),
    ("idle MB", "memory at rest, MB", False),
    ("MB with DOCUMENTS documents", "memory with DOCUMENTS documents of 460 bytes, MB", False),
    ("load documents/s, commits of 500", "documents written per second, 500 per commit", True),
    ("Commit/s, 1 at once", "commits per second, one at a time", True),
    ("Commit/s, 32 at once", "commits per second, 32 in flight", True),
    ("GetDocument/s, 1 at once", "documents read per second, one at a time", True),
    ("BatchGetDocuments/s, 32 at once", "documents read per second, 32 in flight", True),
    ("BatchGetDocuments/s under rules, 32 at once", "the same with rules that read a second document", True),
    ("fan-out changes/s, 100 listeners", "changes per second to a document with 100 listeners", True),
    ("SIGTERM s", "SIGTERM until exit, s", False),
]
ONE = f"{DOCUMENTS}/unary/one"
BATCH_GET = field(1, DATABASE) + field(2, ONE)


def founded(number, source):
    return city(number, source) | {"founded": None}


def unary_rates(server, source, calls):
    bodies = {"Commit": commit_request({"unary/one": founded(1, source)}), "GetDocument": field(1, ONE),
              "BatchGetDocuments": BATCH_GET}
    rates = {}
    # The first time warms up: machine code of the JVM, file pages.
    for _ in range(2):
        for method, body in bodies.items():
            for at_once in (1, 32):
                rates[f"{method}/s, {at_once} at once"], _ = h2load(server.port, method, body, calls, at_once)
    return rates


def load(server, count, source):
    """Documents a second, in commits of 500."""
    requests = [framed(commit_request({f"cities/{text(20, source)}": founded(number, source)
                                       for number in range(first, first + 500)})) for first in range(0, count, 500)]
    connection, started = Connection(server.address), time.perf_counter()
    for request in requests:
        connection.call("Commit", request)
    elapsed = time.perf_counter() - started
    connection.close()
    return count / elapsed


def follow(address, listener_count, pipe):
    """Listens on many streams of one connection. Reports when all have the first state, then when all have the last, with
    the number of messages received in between."""
    selected = field(2, field(1, DOCUMENTS) + field(2, field(2, field(2, "fan"))))
    request = framed(field(1, DATABASE) + field(2, selected + field(5, 2)))
    connection = Connection(address, headers=CALLER)
    for _ in range(listener_count):
        connection.start("Listen", request, False)
    for marker in (b"change-begin.", b"change-last."):
        having, received = set(), 0
        while len(having) < listener_count:
            for kind, flags, stream, payload in connection.read():
                if kind == DATA:
                    received += 1
                    if marker in payload:
                        having.add(stream)
                elif kind == HEADERS and flags & 1:
                    raise ConnectionError(payload)
        pipe.send(received)
    connection.close()


def fan_out(address, changes, listener_count, most_seconds):
    """One client commits one change after another; many streams listen to the collection (of one document, which is the
    emulator's best case: it sends the whole result for each change). Ends when all have the last one. Returns changes per
    second and frames received per change and listener."""
    def request(change):
        return framed(commit_request({"fan/one": {"n": f"change-{change}."}}))

    connection, requests = Connection(address), [request(number) for number in range(changes)]
    connection.call("Commit", request("begin"))
    pipe, other = multiprocessing.Pipe()
    process = multiprocessing.Process(target=follow, args=(address, listener_count, other))
    process.start()
    pipe.recv()
    started, made = time.perf_counter(), 0
    while made < changes and time.perf_counter() - started <= most_seconds:
        connection.call("Commit", requests[made])
        made += 1
    connection.call("Commit", request("last"))
    received = pipe.recv()
    elapsed = time.perf_counter() - started
    process.join()
    connection.close()
    return (made + 1) / elapsed, received / (made + 1) / listener_count


def at_rest_and_busy(server, options):
    # What starting leaves to do.
    time.sleep(1.5)
    figures = {"ready ms": server.ready * 1000, "idle MB": server.memory()}
    before = server.processor_seconds()
    figures |= unary_rates(server, random.Random(1), options.calls)
    figures["calls processor s"] = server.processor_seconds() - before
    before = server.processor_seconds()
    rate, frames = fan_out(server.address, options.changes, 100, options.seconds)
    figures |= {"fan-out changes/s, 100 listeners": rate, "fan-out frames per change and listener": frames,
                "fan-out processor s": server.processor_seconds() - before, "MB after fan-out": server.memory()}
    started = time.perf_counter()
    server.end()
    return figures | {"SIGTERM s": time.perf_counter() - started}


def with_documents(server, options):
    with server:
        figures = {"load documents/s, commits of 500": load(server, options.documents, random.Random(2))}
        time.sleep(2)
        return figures | {f"MB with {options.documents} documents": server.memory()}


def under_rules(server, options):
    """Reads of a user whom rules allow them, compared with those of an administrator, which skip the rules."""
    claims = {"user_id": "ada", "email": "ada@example.com", "iat": 0, "exp": 1 << 32, "aud": PROJECT,
              "iss": f"https://securetoken.google.com/{PROJECT}", "firebase": {"sign_in_provider": "password"}}
    with server:
        h2load(server.port, "Commit", commit_request({"unary/one": founded(1, random.Random(1))}), 1, 1)
        rates = {}
        for kind, bearer in (("without", "owner"), ("under", token("ada", **claims))):
            for _ in range(2):
                rates[kind], _ = h2load(server.port, "BatchGetDocuments", BATCH_GET, options.calls, 32, bearer=bearer)
    return {"BatchGetDocuments/s under rules, 32 at once": rates["under"],
            "rules, share of the time %": 100 * (1 - rates["under"] / rates["without"])}


def rounded(number):
    """With two digits, or to the next hundred: what another run shows again."""
    if number >= 1000:
        return f"{round(number, -2):,.0f}".replace(",", " ")
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}" if number >= 1 else f"{number:.2f}"


def write_page(path, figures, options):
    rows = ["| figure | Hearth | Google's emulator | ratio |", "|---|---|---|---|"]
    for key, words, more_is_better in PAGE:
        key = key.replace("DOCUMENTS", str(options.documents))
        words = words.replace("DOCUMENTS", f"{options.documents:,}".replace(",", " "))
        ours, theirs = figures["hearth"][key], figures["emulator"][key]
        ratio = ours / theirs if more_is_better else theirs / ours
        rows.append(f"| {words} | {rounded(ours)} | {rounded(theirs)} | {rounded(ratio)} |")
    page = pathlib.Path(path)
    head, heading, rest = page.read_text().partition("## Benchmarks\n")
    before, table, behind = re.split(r"((?:^\|.*\n)+)", rest, maxsplit=1, flags=re.MULTILINE)
    if not table:
        raise RuntimeError(f"{path} has no table under 'Benchmarks'.")
    page.write_text(head + heading + before + "\n".join(rows) + "\n" + behind)


def emulator(options):
    """Single calls are made by h2load, a C program, on one connection; a separate process listens, on one bare HTTP/2
    connection. Their share is in every figure."""
    jar = EMULATOR_FOLDER / "cloud-firestore-emulator.jar"
    rules = tempfile.NamedTemporaryFile("w", suffix=".rules")
    rules.write(RULES)
    rules.flush()
    with folder() as home:
        def start_hearth(*more):
            place = ["--in-memory"] if options.in_memory else ["--data", tempfile.mkdtemp(dir=home)]
            return hearth_server(options.hearth, *place, *more)

        def start_emulator(*more):
            return Server("java", "-Duser.language=en", "-cp", jar, "com.google.cloud.datastore.emulator.firestore.CloudFirestore",
                          "--host=127.0.0.1", "--port=PORT", *more)

        starts = {"hearth": (start_hearth, ["--rules", rules.name]), "emulator": (start_emulator, [f"--rules={rules.name}"])}
        if options.only:
            starts = {options.only: starts[options.only]}
        elif not (jar.exists() and shutil.which("java")):
            if options.page:
                raise RuntimeError("--page needs Google's emulator, and Java.")
            print("Google's emulator is not installed: only hearth is measured.")
            del starts["emulator"]
        results = {name: [] for name in starts}
        for _ in range(options.rounds):
            for name, (start, with_rules) in starts.items():
                row = at_rest_and_busy(start(), options)
                if options.documents:
                    row |= with_documents(start(), options)
                results[name].append(row | under_rules(start(*with_rules), options))
    figures = {name: medians(rows) for name, rows in results.items()}
    if len(figures) == 2:
        columns = figures | {"ratio": {
            key: ours / figures["emulator"][key] for key, ours in figures["hearth"].items() if figures["emulator"][key]}}
    else:
        columns = figures
    print_columns(columns, {name: name for name in columns}, options.rounds)
    save(results, options.json)
    if options.page:
        write_page(options.page, figures, options)


if __name__ == "__main__":
    from google.cloud import firestore
    works = {"listen": listen, "change": change, "write": write}
    if len(sys.argv) != 2 or sys.argv[1] not in works:
        sys.exit("usage: compare.py listen|change|write")
    print(json.dumps(works[sys.argv[1]](firestore.Client(PROJECT))))
