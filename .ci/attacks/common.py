# SPDX-License-Identifier: Apache-2.0
"""What the attacks share: a `hearth` to start and kill, a bare client, a table of outcomes. Loopback and temporary
folders only; everything that is started is ended."""
import collections, contextlib, os, pathlib, pty, re, select, shutil, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDS = [ROOT / ".build" / kind / "hearth" for kind in ("release", "debug")]
HEARTH = os.environ.get("HEARTH") or str(next((build for build in BUILDS if build.exists()), BUILDS[-1]))
PROJECT = "attack"
DATABASE = f"projects/{PROJECT}/databases/(default)"
DOCUMENTS = DATABASE + "/documents"
# Ends of a program that it did not choose: traps, aborts, faults.
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE}


def environment(home):
    """A home of its own, so that no attack meets the user's data."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return keep | {
        "HOME": str(home), "TERM": "xterm-256color", "SHELL": "/bin/sh", "LANG": "C.UTF-8",
        "XDG_DATA_HOME": f"{home}/share", "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}


@contextlib.contextmanager
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="hearth-attack-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run(home, *arguments, timeout=60, **more):
    """One command to its end. Its status is that of a shell: 128 and the number of a signal. 124: it did not end."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | more
    process = subprocess.Popen(
        [HEARTH, *arguments], env=environment(home), cwd=home, start_new_session=True, **more)
    try:
        output, errors = process.communicate(timeout=timeout)
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = 124
    return status, (output or b"").decode(errors="replace"), (errors or b"").decode(errors="replace")


def crashed(status):
    return status - 128 in CRASHES


class Server:
    """A `hearth serve` of its own on a free port. `before` are words to put before the program, such as strace's."""

    def __init__(self, home, *arguments, before=()):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*before, HEARTH, "serve", "--port", "0", *arguments], env=environment(home), cwd=home,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True)
        self.address = None
        deadline = time.monotonic() + 60
        line = b""
        while self.address is None and time.monotonic() < deadline:
            if not select.select([self.process.stdout], [], [], 1)[0]:
                continue
            byte = os.read(self.process.stdout.fileno(), 4096)
            if not byte:
                break
            line += byte
            found = re.search(rb" on (\d+\.\d+\.\d+\.\d+:\d+)", line)
            self.address = found.group(1).decode() if found else None
        if self.address is None:
            self.end(signal.SIGKILL)
            raise RuntimeError(self.said())

    def said(self):
        """Standard error so far."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()

    def end(self, number=signal.SIGTERM):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            status = self.process.wait()
        self.process.stdout.close()
        return status


class Client:
    """Bare calls, without anything that tries again."""

    def __init__(self, address):
        import grpc
        from google.cloud.firestore_v1.types import document, firestore, query, write
        self.document, self.firestore, self.query, self.write = document, firestore, query, write
        self.failure = grpc.RpcError
        self.channel = grpc.insecure_channel(address, options=[("grpc.enable_retries", 0)])
        prefix = "/google.firestore.v1.Firestore/"
        self.commit_call = self.channel.unary_unary(
            prefix + "Commit", lambda message: message, firestore.CommitResponse.deserialize)
        self.query_call = self.channel.unary_stream(
            prefix + "RunQuery", lambda message: message, firestore.RunQueryResponse.deserialize)

    def set(self, path, fresh=False, **fields):
        values = {name: self.document.Value(**{kind(value): value}) for name, value in fields.items()}
        write = self.write.Write(update=self.document.Document(name=f"{DOCUMENTS}/{path}", fields=values))
        if fresh:
            write.current_document = {"exists": False}
        return write

    def increment(self, path, field, by=1):
        transform = self.write.DocumentTransform.FieldTransform(field_path=field, increment={"integer_value": by})
        return self.write.Write(
            update=self.document.Document(name=f"{DOCUMENTS}/{path}"), update_mask={"field_paths": []},
            update_transforms=[transform])

    def commit(self, writes, timeout=20):
        request = self.firestore.CommitRequest(database=DATABASE, writes=writes)
        return self.commit_call(self.firestore.CommitRequest.serialize(request), timeout=timeout)

    def read(self, collection, timeout=60):
        """The documents of all collections of that id: fields by path below the root."""
        structured = self.query.StructuredQuery(
            from_=[self.query.StructuredQuery.CollectionSelector(collection_id=collection, all_descendants=True)])
        request = self.firestore.RunQueryRequest(parent=DOCUMENTS, structured_query=structured)
        found = {}
        for answer in self.query_call(self.firestore.RunQueryRequest.serialize(request), timeout=timeout):
            if answer.document.name:
                fields = {name: plain(value) for name, value in answer.document.fields.items()}
                found[answer.document.name[len(DOCUMENTS) + 1:]] = fields
        return found

    def close(self):
        self.channel.close()


def kind(value):
    return "integer_value" if isinstance(value, int) else "string_value"


def plain(value):
    which = type(value).pb(value).WhichOneof("value_type")
    return getattr(value, which) if which else None


class Dashboard:
    """A dashboard on a pseudo-terminal."""

    def __init__(self, home, *arguments, edits=None):
        self.screen = b""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            editor = pathlib.Path(home) / "editor"
            if edits is not None:
                editor.write_text(f"#!/bin/sh\nprintf '%s' '{edits}' > \"$1\"\n")
                editor.chmod(0o755)
            os.environ.clear()
            os.environ.update(environment(home) | {"EDITOR": str(editor), "COLUMNS": "120", "LINES": "36"})
            os.chdir(home)
            os.execv(HEARTH, [HEARTH, *arguments])
        import fcntl, struct, termios
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))

    def read(self, seconds):
        """Takes what comes within a time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                return
            try:
                more = os.read(self.terminal, 65536)
            except OSError:
                return
            if not more:
                return
            self.screen += more

    def wait(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.screen:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the dashboard never showed {text!r}: {self.screen[-2000:]!r}")
            self.read(0.2)

    def type(self, keys, seconds=0.4):
        os.write(self.terminal, keys.encode())
        self.read(seconds)

    def end(self, number=signal.SIGKILL):
        """The status, as a shell gives it; 124 if it did not end by itself."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, number)
        status, deadline = None, time.monotonic() + 15
        while status is None:
            self.read(0.05)
            ended, raw = os.waitpid(self.process, os.WNOHANG)
            if ended:
                status = os.waitstatus_to_exitcode(raw)
            elif time.monotonic() > deadline:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
                status = 124
        os.close(self.terminal)
        return status if status >= 0 else 128 - status


class Table:
    """Counts outcomes; those that must not be end the attack with 1."""

    def __init__(self, title):
        self.title, self.counts, self.violations = title, collections.defaultdict(collections.Counter), []

    def add(self, row, outcome, count=1):
        self.counts[row][outcome] += count

    def violate(self, row, outcome, what):
        self.add(row, outcome)
        self.violations.append(f"{row}: {outcome}: {what}")

    def finish(self):
        print(f"\n{self.title}")
        for row, outcomes in self.counts.items():
            print(f"  {row:34} " + ", ".join(f"{outcome} {count}" for outcome, count in sorted(outcomes.items())))
        for violation in self.violations[:40]:
            print(f"  VIOLATION {violation}")
        if len(self.violations) > 40:
            print(f"  … and {len(self.violations) - 40} more")
        print(f"  {'FAILED' if self.violations else 'held'}")
        sys.exit(1 if self.violations else 0)


def one_line(text, length=160):
    return " ".join(text.split())[:length]
