# SPDX-License-Identifier: Apache-2.0
"""What the attacks share: the program under test, a bare gRPC client, a table of outcomes."""
import pathlib, sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "library"))
import collections
from programs import *
from wire import *

HEARTH = found_hearth()
PROJECT = "attack"
DATABASE = f"projects/{PROJECT}/databases/(default)"
DOCUMENTS = DATABASE + "/documents"
# Ends of a program that it did not choose: traps, aborts, faults.
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE}


def run(home, *arguments, timeout=60, before=(), **more):
    """One command to its end. Returns the status as a shell gives it (124 if the command did not end), output and errors."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | more
    process = subprocess.Popen(
        [*before, HEARTH, *arguments], env=environment(home), cwd=home, start_new_session=True, **more)
    try:
        output, errors = process.communicate(timeout=timeout)
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = 124
    return status, (output or b"").decode(errors="replace"), (errors or b"").decode(errors="replace")


def import_many(home, collection, count, text=""):
    """Imports documents numbered from 0, from a file that remains."""
    (home / "in.jsonl").write_text("".join(json.dumps({"path": f"{collection}/{number:04}", "data": {"n": number, "t": text}}) + "\n"
                                           for number in range(count)))
    status, _, errors = run(home, "import", "in.jsonl", "--data", f"{home}/data")
    assert status == 0, errors


def serve(home, *arguments, before=()):
    return hearth_server(HEARTH, *arguments, before=before, env=environment(home), cwd=home)


def dashboard(home, *arguments, edits=None):
    return Dashboard(HEARTH, home, *arguments, edits=edits)


def crashed(status):
    return status - 128 in CRASHES


def one_line(text, length=160):
    return " ".join(text.split())[:length]


def exported(home, data, *words):
    """The status, the text, the documents by path, and the errors of `hearth export`."""
    status, output, errors = run(home, "export", *words, "--data", str(data), "--project", PROJECT)
    lines = map(json.loads, (line for line in output.splitlines() if line.startswith("{")))
    return status, output, {line["path"]: line["data"] for line in lines}, errors


class Client:
    """Bare gRPC calls, without anything that tries again."""

    def __init__(self, address):
        import grpc
        from google.cloud.firestore_v1.types import document, firestore, query, write
        self.document, self.firestore, self.query, self.write = document, firestore, query, write
        self.failure = grpc.RpcError
        self.channel = grpc.insecure_channel(address, options=[("grpc.enable_retries", 0)])
        self.commit_call = self.channel.unary_unary(
            FIRESTORE + "Commit", lambda message: message, firestore.CommitResponse.deserialize)
        self.query_call = self.channel.unary_stream(
            FIRESTORE + "RunQuery", lambda message: message, firestore.RunQueryResponse.deserialize)

    def set(self, path, fresh=False, **fields):
        values = {name: self.document.Value(**{kind(value): value}) for name, value in fields.items()}
        write = self.write.Write(update=self.document.Document(name=f"{DOCUMENTS}/{path}", fields=values))
        if fresh:
            write.current_document = {"exists": False}
        return write

    def increment(self, path, field, by):
        transform = self.write.DocumentTransform.FieldTransform(field_path=field, increment={"integer_value": by})
        return self.write.Write(update=self.document.Document(name=f"{DOCUMENTS}/{path}"), update_mask={"field_paths": []},
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
        return bool(self.violations)


def perform(**attacks):
    """Runs the attack that the first argument names."""
    sys.exit(attacks[sys.argv[1]]())
