# SPDX-License-Identifier: Apache-2.0
"""Finds, starts and stops the programs under test, and reads /proc. Uses loopback and temporary folders only."""
import argparse, atexit, contextlib, fcntl, http.server, json, os, pathlib, pty, re, select, shutil, signal, socket, statistics, struct, subprocess
import sys, tempfile, termios, threading, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOGLE_CLIENT = "google-cloud-firestore==2.34.1"
EMULATOR_FOLDER = pathlib.Path("/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator")
EMULATOR = os.environ.get("FIRESTORE_EMULATOR") or str(EMULATOR_FOLDER / "cloud_firestore_emulator")
TICKS = os.sysconf("SC_CLK_TCK")


class Arguments(argparse.ArgumentParser):
    """The arguments of a script, with its documentation as help. Wrong arguments end it with 64."""

    def __init__(self, description=None, **options):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def found_hearth(given=None):
    """The program named by an option or by $HEARTH, or else the release or debug build."""
    builds = [ROOT / ".build" / kind / "hearth" for kind in ("release", "debug")]
    program = given or os.environ.get("HEARTH") or next((build for build in builds if build.exists()), builds[0])
    if not shutil.which(program):
        sys.exit(f"There is no {program}. Build it with 'swift build -c release --product {pathlib.Path(program).name}'.")
    return os.path.abspath(shutil.which(program))


def has_emulator():
    return bool(shutil.which(EMULATOR) and shutil.which("java"))


def enter_python(*packages):
    """Continues the script with a Python that has these packages: $HEARTH_ATTACK_PYTHON, or a virtual environment that the
    first run fills from PyPI."""
    folder = ROOT / ".build/python"
    python = os.environ.get("HEARTH_ATTACK_PYTHON") or folder / "bin/python"
    if pathlib.Path(sys.executable).parent == pathlib.Path(python).parent:
        return
    if python == folder / "bin/python":
        marker = folder / "-".join(packages)
        if not marker.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *packages], check=True)
            marker.touch()
    os.execv(python, [str(python), *sys.argv])


def environment(home, **more):
    """An environment whose data, caches and configuration are in a home of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"HOME": str(home), "TERM": "xterm-256color", "SHELL": "/bin/sh", "LANG": "C.UTF-8"} | more


@contextlib.contextmanager
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="hearth-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def import_documents(hearth, home, documents, into, *place):
    """Imports objects with an `id`. Returns the seconds that the import took."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for document in documents:
            file.write(json.dumps(document) + "\n")
        file.flush()
        started = time.perf_counter()
        subprocess.run([hearth, "import", file.name, "--into", into, "--id-field", "id", *place], check=True,
                       env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - started


class Process:
    """The figures of a process in /proc."""

    def __init__(self, pid):
        self.pid = pid

    def processor_seconds(self):
        """User and system time so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, kind="VmRSS"):
        """In MB; VmHWM is the peak."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(kind + r":\s+(\d+)", status)[1]) / 1024

    def wakeups(self):
        """How often each thread has waited, by the thread's number."""
        counts = {}
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            counts[task.name] = int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text())[1])
        return counts


class Server(Process):
    """A program that serves on a free port; PORT in its arguments is replaced by the port. Ready when GET / is answered.

    Raises RuntimeError with what the program said if it ends before that."""

    def __init__(self, *arguments, patience=60, **options):
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log = tempfile.TemporaryFile()
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [str(argument).replace("PORT", str(self.port)) for argument in arguments], start_new_session=True,
            **{"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log} | options)
        super().__init__(self.process.pid)
        # What a script that fails has started ends with it.
        atexit.register(lambda: self.process.poll() is None and self.end(signal.SIGKILL))
        while not self.answers():
            if self.process.poll() is not None or time.perf_counter() - started > patience:
                self.end(signal.SIGKILL)
                raise RuntimeError(self.said())
            time.sleep(0.001)
        self.ready = time.perf_counter() - started

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return connection.recv(64).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()

    def end(self, number=signal.SIGTERM):
        """Ends the program and what it started. Returns the status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.end()


def hearth_server(hearth, *arguments, before=(), **options):
    """`hearth serve`; `before` are words to put before the program, such as strace's."""
    return Server(*before, hearth, "serve", "--port", "PORT", *(arguments or ["--in-memory"]),
                  **{"stdout": subprocess.DEVNULL} | options)


def emulator_server(*arguments):
    return Server(EMULATOR, "start", "--host=127.0.0.1", "--port=PORT", *arguments, patience=120)


class Dashboard(Process):
    """A dashboard in a pseudo-terminal of 120×36. `edits` is what its editor writes into every file."""

    def __init__(self, hearth, home, *arguments, edits=None):
        self.screen, self.bytes, self.started = bytearray(), 0, time.perf_counter()
        pid, self.terminal = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
            editor = pathlib.Path(home) / "editor"
            if edits is not None:
                editor.write_text(f"#!/bin/sh\nprintf '%s' '{edits}' > \"$1\"\n")
                editor.chmod(0o755)
            os.chdir(home)
            os.execve(hearth, [hearth, *map(str, arguments)], environment(home, EDITOR=str(editor)))
        super().__init__(pid)

    def read(self, seconds):
        """Reads once, if something comes within a time. Returns whether the terminal is open."""
        if not select.select([self.terminal], [], [], max(0, seconds))[0]:
            return True
        try:
            some = os.read(self.terminal, 1 << 16)
        except OSError:
            return False
        self.screen += some
        self.bytes += len(some)
        return bool(some)

    def wait(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.screen:
            if not self.read(0.2) or time.monotonic() > deadline:
                raise RuntimeError(f"The dashboard does not show {text!r}: {bytes(self.screen[-2000:])!r}")

    def go_on(self, seconds):
        """Reads for a time."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            if not self.read(left):
                raise RuntimeError(f"The dashboard has ended: {bytes(self.screen[-500:])!r}")

    def type(self, keys, seconds=0):
        """Reads for a time afterwards, or until the dashboard has ended."""
        os.write(self.terminal, keys.encode())
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0 and self.read(left):
            pass

    def end(self, number=signal.SIGTERM):
        """Returns the status as a shell gives it, or 124 if the dashboard did not end."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
        status, deadline = None, time.monotonic() + 15
        while status is None:
            self.read(0.05)
            ended, raw = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                status = os.waitstatus_to_exitcode(raw)
            elif time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                status = 124
        os.close(self.terminal)
        return status if status >= 0 else 128 - status


def found_chromium():
    return shutil.which(os.environ.get("CHROMIUM", "chromium")) or sys.exit(
        "There is no chromium. Install it with 'apt-get install chromium'.")


def browse(address, profile, *flags, **options):
    """Opens a page in headless Chromium."""
    return subprocess.Popen(
        [found_chromium(), "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", f"--user-data-dir={profile}", *flags, address],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


class Page(http.server.SimpleHTTPRequestHandler):
    """Answers the requests of a page."""

    protocol_version = "HTTP/1.1"

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def received(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *arguments):
        pass


class Pages(http.server.ThreadingHTTPServer):
    """Serves pages in a thread."""

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A browser that ends leaves requests behind."""


def h2load(port, method, message, calls, streams, clients=1, bearer="owner"):
    """Calls a second and the mean milliseconds of one; all have to succeed. One message for all: h2load accepts no more."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\0" + struct.pack(">I", len(message)) + message)
        file.flush()
        output = subprocess.run(
            ["h2load", f"-n{calls}", f"-c{clients}", "-t1", f"-m{streams}", "-d", file.name,
             "-H", "content-type: application/grpc", "-H", "te: trailers", "-H", f"authorization: Bearer {bearer}",
             f"http://127.0.0.1:{port}/google.firestore.v1.Firestore/{method}"],
            capture_output=True, text=True, check=True).stdout
    if f"status codes: {calls} 2xx" not in output:
        raise RuntimeError(f"{method}: {output}")
    mean = re.search(r"time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)", output)
    return float(re.search(r"([\d.]+) req/s", output)[1]), float(mean[1]) * {"us": 0.001, "ms": 1, "s": 1000}[mean[2]]


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def medians(rounds):
    """The median of each figure over rounds; a round may lack some."""
    return {name: statistics.median(row[name] for row in rounds if name in row) for name in dict.fromkeys(
        name for row in rounds for name in row)}


def report(figures, bounds, title=""):
    """Prints figures with the bounds that they exceed. Returns whether one does."""
    exceeded = False
    for name, value in figures.items():
        bound = bounds.get(name)
        is_above = bound is not None and value > bound
        exceeded |= is_above
        print(f"{title}{name:45}{value:12.2f}" + (f"   ABOVE {bound}" if is_above else ""), flush=True)
    return exceeded


def save(figures, file):
    if file:
        pathlib.Path(file).write_text(json.dumps(figures, indent=1))
