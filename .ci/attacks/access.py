# SPDX-License-Identifier: Apache-2.0
"""Who may see and do what.

control: what controls a server that has keys or a secret, asked for by everybody else on the same machine: nothing is answered,
changed or ended but for the administrator; without keys and secret all of it is open on loopback.
listeners: listeners under rules: random rules, users, queries, limits and changes; streams are cut and resumed. No message carries
a document that a get by the same user refuses, and each client ends with what a fresh query gives. The seed is printed;
HEARTH_SEED repeats a run."""
import queue, random, threading
from attack import *

# control

LOCKED = ("rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { match /{x=**} {"
         " allow read, write: if request.auth.uid == 'me'; } } }")
OPEN = LOCKED.replace("if request.auth.uid == 'me'", "if true")
SECRET = "a-secret-of-more-than-sixteen-letters"
WHO = {"nobody": None, "owner": "Bearer owner", "a wrong secret": "Bearer " + SECRET[:-1] + "x", "an unsigned token":
       "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9."}


def requests(home):
    database = f"/emulator/v1/projects/{PROJECT}/databases/(default)"
    rules = json.dumps({"rules": {"files": [{"name": "r", "content": OPEN}]}})
    export = json.dumps({"database": DATABASE, "export_directory": f"{home}/out", "export_name": "x"})
    root = f"/emulator/v1/projects/{PROJECT}"
    return [
        ("GET", root + ":securityRules", None), ("PUT", root + ":securityRules", rules),
        ("GET", root + ":ruleCoverage", None), ("GET", root + ":ruleCoverage.html", None),
        ("GET", root + ":requests", None), ("GET", "/requests", None), ("POST", root + ":export", export),
        ("DELETE", database + "/documents", None), ("DELETE", database + "/documents/c", None),
        ("POST", "/reset", None), ("POST", "/shutdown", None), ("PUT", "/v1/../emulator/v1/projects/p:securityRules", rules),
        ("PUT", root + "%3AsecurityRules", rules), ("POST", "//shutdown", None), ("POST", "/shutdown/", None),
    ]


def ask(address, method, path, body, authorization, host=None):
    headers = {"authorization": authorization} if authorization else {}
    if path == "/requests":
        headers |= {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
                    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    return status_of(address, method, path, body, **headers, **({"host": host} if host else {}))


def ask_all(table, home, row, *options):
    server = serve(home, "--in-memory", *options)
    try:
        admin = "Bearer " + SECRET
        address = server.address
        status = ask(address, "PATCH", f"/v1/{DOCUMENTS}/c/1", '{"fields": {"n": {"integerValue": "1"}}}', admin)
        if status != 200:
            table.violate(row, "the administrator cannot write", str(status))
        for method, path, body in requests(home):
            for who, authorization in WHO.items():
                for host in (None, "localhost"):
                    status = ask(address, method, path, body, authorization, host)
                    if status is None or status < 300 or status == 101:
                        table.violate(row, "answered", f"{who}: {method} {path}: {status}")
                    else:
                        table.add(row, f"refused with {status}")
        if server.process.poll() is not None:
            table.violate(row, "ended", "by somebody who is no administrator")
        elif ask(address, "GET", f"/v1/{DOCUMENTS}/c/1", None, admin) != 200:
            table.violate(row, "changed", "a document is gone")
        elif ask(address, "GET", f"/v1/{DOCUMENTS}/c/1", None, None) == 200:
            table.violate(row, "changed", "the rules are open")
        if (home / "out").exists():
            table.violate(row, "changed", "an export was made")
        # An export is made in a folder that is there.
        (home / "out").mkdir(exist_ok=True)
        for method, path, body in requests(home)[:10]:
            status = ask(address, method, path, body, admin)
            if status is None or status >= 400 and status != 404:
                table.violate(row, "the administrator is refused", f"{method} {path}: {status}")
            else:
                table.add(row, "the administrator may")
    finally:
        server.end()


def control():
    table = Table("control paths of a server with keys or a secret, on loopback")
    with folder() as home:
        (home / "rules").write_text(LOCKED)
        secret = home / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        subprocess.run(["openssl", "genrsa", "-out", f"{home}/key", "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", f"{home}/key", "-pubout", "-out", f"{home}/keys"], check=True,
                       capture_output=True)
        (home / "keys").chmod(0o600)
        ask_all(table, home, "keys, secret and rules", "--rules", f"{home}/rules", "--auth-keys", f"{home}/keys",
               "--admin-secret", str(secret))
        shutil.rmtree(home / "out", ignore_errors=True)
        for name, mode in (("secret", 0o644), ("secret", 0o620), ("keys", 0o666)):
            (home / name).chmod(mode)
            status, _, errors = run(home, "serve", "--in-memory", "--port", "0", "--rules", f"{home}/rules", "--auth-keys",
                                    f"{home}/keys", "--admin-secret", str(secret), timeout=8)
            (home / name).chmod(0o600)
            row = f"{name} with mode {mode:o}"
            if status == 124:
                table.violate(row, "taken", one_line(errors))
            else:
                table.add(row, f"refused with {status}: {one_line(errors, 60)}")
    return table.finish()


# listeners

SEED = int(os.environ.get("HEARTH_SEED") or random.randrange(1 << 32))
ROUNDS = int(os.environ.get("HEARTH_ROUNDS") or 30)
MARK = DOCUMENTS + "/mark/now"
USERS = ["ada", "bob", "cyd"]
RULES = [
    "resource.data.owner == request.auth.uid",
    "request.auth.uid in resource.data.members",
    "resource.data.public == true",
    "resource.data.owner == request.auth.uid || resource.data.public == true",
    "resource.data.owner == get(/databases/$(database)/documents/users/$(request.auth.uid)).data.name",
    "exists(/databases/$(database)/documents/users/$(request.auth.uid)) && resource.data.public == true",
    "true",
]
# The query that each rule proves, by user.
QUERIES = [
    lambda user: ("owner", 5, {"string_value": user}),
    lambda user: ("members", 7, {"string_value": user}),
    lambda user: ("public", 5, {"boolean_value": True}),
    lambda user: ("owner", 5, {"string_value": user}),
    lambda user: ("owner", 5, {"string_value": user}),
    lambda user: ("public", 5, {"boolean_value": True}),
    lambda user: ("n", 3, {"integer_value": 50}),
]


class Firestore:
    def __init__(self, address):
        import grpc
        from google.cloud.firestore_v1.types import document, firestore, query, write
        self.grpc, self.d, self.f, self.q, self.w = grpc, document, firestore, query, write
        self.address, self.channel = address, grpc.insecure_channel(address)
        call = lambda kind, name, answer: kind(
            FIRESTORE + name, lambda message: type(message).serialize(message), answer.deserialize)
        self.commit = call(self.channel.unary_unary, "Commit", firestore.CommitResponse)
        self.get = call(self.channel.unary_unary, "GetDocument", document.Document)
        self.run_query = call(self.channel.unary_stream, "RunQuery", firestore.RunQueryResponse)
        self.listen = call(self.channel.stream_stream, "Listen", firestore.ListenResponse)

    def header(self, user):
        return [("authorization", "Bearer " + ("owner" if user is None else token(user))),
                ("google-cloud-resource-prefix", DATABASE)]

    def rules(self, condition):
        text = ("rules_version = '2'; service cloud.firestore { match /databases/{database}/documents { "
                "match /mark/{id} { allow read; } match /notes/{id} { allow read: if %s; } } }" % condition)
        Rest(self.address).ask("PUT", f"/emulator/v1/projects/{PROJECT}:securityRules",
                               {"rules": {"files": [{"name": "security.rules", "content": text}]}})

    def read(self, user, name):
        """A document as the user may get it; None if it is not there, False if the user may not."""
        try:
            return self.get(self.f.GetDocumentRequest(name=name), metadata=self.header(user), timeout=20)
        except self.grpc.RpcError as error:
            if error.code() == self.grpc.StatusCode.NOT_FOUND:
                return None
            if error.code() == self.grpc.StatusCode.PERMISSION_DENIED:
                return False
            raise

    def documents(self, user, names):
        """Documents by name, or None where the rules refuse one."""
        found = {name: self.read(user, name) for name in names}
        return None if False in found.values() else {name: document for name, document in found.items() if document}

    def structured(self, rule, user, limit):
        field, operator, value = QUERIES[rule](user)
        return self.q.StructuredQuery({
            "from_": [{"collection_id": "notes"}], **({"limit": limit} if limit else {}),
            "where": {"field_filter": {"field": {"field_path": field}, "op": operator, "value": value}}})

    def result(self, user, query):
        """Documents by name, or None where the rules refuse the query."""
        try:
            answers = self.run_query(
                self.f.RunQueryRequest(parent=DOCUMENTS, structured_query=query), metadata=self.header(user), timeout=20)
            return {answer.document.name: answer.document for answer in answers if answer.document.name}
        except self.grpc.RpcError as error:
            if error.code() == self.grpc.StatusCode.PERMISSION_DENIED:
                return None
            raise


class Listener:
    """One target, and what a client would hold of it."""

    def __init__(self, firestore, user, rule, limit, names):
        self.firestore, self.user, self.names = firestore, user, names
        self.query = None if names else firestore.structured(rule, user, limit)
        self.held, self.token, self.ended, self.call = {}, b"", False, None
        self.messages, self.resets, self.mismatches = queue.Queue(), 0, 0

    def open(self):
        f = self.firestore.f
        target = f.Target(target_id=2, resume_token=self.token)
        if self.names:
            target.documents = f.Target.DocumentsTarget(documents=self.names)
        else:
            target.query = f.Target.QueryTarget(parent=DOCUMENTS, structured_query=self.query)
        if self.token:
            target.expected_count = len(self.held)
        # A document that each commit changes: its snapshot says that the other target is up to that time, too.
        mark = f.Target(target_id=4, documents=f.Target.DocumentsTarget(documents=[MARK]))
        self.requests = queue.Queue()
        self.requests.put(f.ListenRequest(database=DATABASE, add_target=target))
        self.requests.put(f.ListenRequest(database=DATABASE, add_target=mark))
        self.call = self.firestore.listen(iter(self.requests.get, None), metadata=self.firestore.header(self.user))
        threading.Thread(target=self.pump, args=(self.call, self.messages), daemon=True).start()

    def pump(self, call, messages):
        try:
            for message in call:
                messages.put(message)
        except self.firestore.grpc.RpcError:
            pass
        messages.put(None)

    def cut(self):
        if self.call is not None:
            self.requests.put(None)
            self.call.cancel()
            self.messages, self.call = queue.Queue(), None

    def catch_up(self, time, seen):
        """Takes messages until the client has seen everything up to a time; each document goes to `seen`."""
        differs = False
        while not self.ended:
            message = self.messages.get(timeout=30)
            if message is None:
                raise RuntimeError("the stream ended")
            kind = type(message).pb(message).WhichOneof("response_type")
            if kind == "document_change":
                change = message.document_change
                if change.document.name == MARK:
                    continue
                seen(self, change.document)
                if 2 in change.target_ids:
                    self.held[change.document.name] = change.document
                if 2 in change.removed_target_ids:
                    self.held.pop(change.document.name, None)
            elif kind in ("document_delete", "document_remove"):
                self.held.pop(getattr(message, kind).document, None)
            elif kind == "filter":
                differs = message.filter.count != len(self.held)
                self.mismatches += differs
            else:
                change = message.target_change
                if change.target_change_type == 2 and 2 in change.target_ids:
                    self.ended = True
                    return
                if change.target_change_type == 4:
                    self.held, self.resets = {}, self.resets + 1
                if change.resume_token:
                    self.token = change.resume_token
                if change.target_change_type == 0 and not change.target_ids and change.read_time \
                        and change.read_time >= time:
                    break
        if differs and not self.ended:
            # As a client does that cannot tell which documents left.
            self.cut()
            self.held, self.token = {}, b""
            self.open()
            self.catch_up(time, seen)


def change(firestore, chance):
    """Some random writes of an administrator in one commit; its time."""
    d, w = firestore.d, firestore.w
    writes = {MARK: w.Write(update=d.Document(
        name=MARK, fields={"at": d.Value(double_value=chance.random())}))}
    for _ in range(chance.randint(1, 6)):
        if chance.random() < 0.15:
            user = chance.choice(USERS)
            name = f"{DOCUMENTS}/users/{user}"
            fields = {"name": d.Value(string_value=chance.choice(USERS))}
        else:
            name = f"{DOCUMENTS}/notes/{chance.randrange(14)}"
            fields = {
                "owner": d.Value(string_value=chance.choice(USERS)), "public": d.Value(boolean_value=chance.random() < 0.5),
                "n": d.Value(integer_value=chance.randrange(100)), "text": d.Value(string_value=f"secret {chance.random()}"),
                "members": d.Value(array_value=d.ArrayValue(
                    values=[d.Value(string_value=user) for user in USERS if chance.random() < 0.4]))}
        gone = chance.random() < 0.2
        writes[name] = w.Write(delete=name) if gone else w.Write(update=d.Document(name=name, fields=fields))
    answer = firestore.commit(
        firestore.f.CommitRequest(database=DATABASE, writes=list(writes.values())), metadata=firestore.header(None),
        timeout=20)
    return answer.commit_time


def play(table, server, chance, row):
    firestore = Firestore(server.address)
    rule = chance.randrange(len(RULES))
    firestore.rules(RULES[rule])
    now = change(firestore, chance)
    opened = []
    for user in USERS:
        for _ in range(2):
            names = None
            if chance.random() < 0.25:
                names = [f"{DOCUMENTS}/notes/{number}" for number in chance.sample(range(14), chance.randint(1, 3))]
            opened.append(Listener(firestore, user, rule, chance.choice([None, 1, 3]), names))
    may = {}

    def seen(listener, document):
        table.add(row, "documents told")
        key = (listener.user, document.name)
        if key not in may:
            may[key] = firestore.read(*key)
        readable = may[key]
        if not readable:
            table.violate(row, "leaked", f"seed {SEED}: {RULES[rule]}: {listener.user} was told {document.name}")
        elif readable.fields != document.fields:
            table.violate(row, "told what is not so", f"seed {SEED}: {document.name}")

    for listener in opened:
        listener.open()
    for step in range(25):
        may.clear()
        for listener in opened:
            if listener.call is None and not listener.ended and chance.random() < 0.6:
                listener.open()
                table.add(row, "resumed")
        for listener in opened:
            if listener.call is not None and not listener.ended:
                listener.catch_up(now, seen)
        for listener in opened:
            if listener.call is None or listener.ended:
                continue
            table.add(row, "compared")
            fresh = firestore.documents(listener.user, listener.names) if listener.names \
                else firestore.result(listener.user, listener.query)
            if fresh is None:
                table.violate(row, "not ended", f"seed {SEED}: {RULES[rule]}")
            elif {name: found.fields for name, found in fresh.items()} != \
                    {name: found.fields for name, found in listener.held.items()}:
                table.violate(row, "another result", f"seed {SEED} step {step}: {RULES[rule]}: {listener.user} holds "
                              f"{sorted(name[-2:] for name in listener.held)}, is {sorted(name[-2:] for name in fresh)}")
        for listener in opened:
            if listener.call is not None and not listener.ended and chance.random() < 0.3:
                listener.cut()
        # One at a time: of several, a stream may have been told what was so in between.
        now = change(firestore, chance)
    for listener in opened:
        listener.cut()
        table.add(row, "RESET", listener.resets)
        table.add(row, "filter that differs", listener.mismatches)
        table.add(row, "ended by rules", listener.ended)
    firestore.channel.close()


def listeners():
    chance = random.Random(SEED)
    table = Table(f"listeners under rules, seed {SEED}")
    for kind in ("memory", "disk"):
        with folder() as home:
            with serve(home, *(["--in-memory"] if kind == "memory" else ["--data", f"{home}/data"])) as server:
                for _ in range(ROUNDS):
                    play(table, server, chance, kind)
    return table.finish()


perform(control=control, listeners=listeners)
