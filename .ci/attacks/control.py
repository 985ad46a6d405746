# SPDX-License-Identifier: Apache-2.0
"""What controls a server that has keys or a secret, asked for by everybody else on the same machine: nothing is answered,
changed or ended but for the administrator; without keys and secret all of it is open on loopback."""
from attack import *

RULES = ("rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { match /{x=**} {"
         " allow read, write: if request.auth.uid == 'me'; } } }")
OPEN = RULES.replace("if request.auth.uid == 'me'", "if true")
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


def attack(table, home, row, *options):
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
        (home / "rules").write_text(RULES)
        secret = home / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        subprocess.run(["openssl", "genrsa", "-out", f"{home}/key", "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", f"{home}/key", "-pubout", "-out", f"{home}/keys"], check=True,
                       capture_output=True)
        (home / "keys").chmod(0o600)
        attack(table, home, "keys, secret and rules", "--rules", f"{home}/rules", "--auth-keys", f"{home}/keys",
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


perform(control=control)
