# SPDX-License-Identifier: Apache-2.0
"""What one server answers, without what is another at each server: ids, times, tokens."""
import http.client, json, re, time

import wire

DATABASE = "projects/demo-traces/databases/(default)"
ROOT = DATABASE + "/documents"
PAGE = "http://localhost:5000"
# Some requests the emulator never answers, in seconds.
PATIENCE = 3
HEADERS = ("content-type", "vary", "x-content-type-options", "cache-control", "location")


class Trace:
    """What one server answers."""

    def __init__(self, port):
        self.port = port
        self.seen, self.counts = {}, {}

    def exchange(self, verb, target, body=None, **headers):
        text = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
        text = text.encode() if isinstance(text, str) else text
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers.setdefault("Authorization", "Bearer owner")
        if text is not None:
            headers.setdefault("Content-Type", "application/json")
        if not headers["Authorization"]:
            del headers["Authorization"]
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            line.request(verb, target, text, headers)
            answer = line.getresponse()
            said = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return {"failure": type(error).__name__}
        finally:
            line.close()
        try:
            said = json.loads(said)
        except ValueError:
            pass
        return {"status": answer.status, "headers": chosen(answer.getheaders()), "body": said}

    def ask(self, verb, path, body=None, who=None, **headers):
        """By the owner, if not `who` else. `path` begins with a slash, or goes on from the root of the documents.
        Returns the body, if it is JSON."""
        target = path if path.startswith("/") else "/v1/" + ROOT + ("" if path[:1] in (":", "") else "/") + path
        text = "" if body is None else body if isinstance(body, str) else repr(body) if isinstance(body, bytes) else \
            json.dumps(body, ensure_ascii=False)
        label = " ".join([verb, path, *headers.values()] + ([f"as {who}"] if who else []) + [text.replace(ROOT, "~")])
        if who:
            users = {"nobody": "", "me": token("me"), "you": token("you")}
            headers["Authorization"] = users.get(who, f"Bearer {who}")
        answer = self.exchange(verb, target, body, **headers)
        self.note(label.strip(), answer)
        said = answer.get("body")
        return said if isinstance(said, (dict, list)) else {}

    def each(self, verb, *paths, **headers):
        for path in paths:
            self.ask(verb, path, **headers)

    def note(self, label, what):
        """Requests that come again have numbers."""
        label = re.sub(r"(pageToken|transaction)=[^&]{9,}", r"\1=…", label)
        label = re.sub(r'"(transaction|streamToken|pageToken)": "[^"]{9,}"', r'"\1": …', label)
        label = re.sub(r"20[^0][^ &]*T[^ &]*Z", "(time)", label)
        label = label if len(label) < 230 else f"{label[:150]} … {label[-70:]}"
        self.counts[label] = self.counts.get(label, 0) + 1
        self.seen[label + (f" #{self.counts[label]}" if self.counts[label] > 1 else "")] = plain(what)


def chosen(headers):
    found = {}
    for name, value in headers:
        name = name.lower()
        if name in HEADERS or name.startswith("access-control-"):
            found[name] = value.replace(" ", "").lower()
    return found


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
TOKENS = {"streamId", "transaction", "resumeToken", "streamToken", "nextPageToken"}
TIMES = {"createTime", "updateTime", "readTime", "commitTime"}


def plain(value, key=None):
    """Without what is another at each server, or another time."""
    if isinstance(value, dict):
        return {name: plain(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if key in TOKENS and value:
        return "(token)"
    if number := re.fullmatch(r"\d+\n\[([01]),(\d+),(\d+)\]", value):
        return dict(zip(("has back channel", "last array", "bytes"), number.groups()))
    if TIME.fullmatch(value) and (key in TIMES or abs(int(value[:4]) - time.gmtime().tm_year) < 2):
        return "(time)"
    # The length of a frame differs with that of the session's id.
    value = re.sub(r'^\d+\n(\[\[0,\["c",)"[^"]+"', r'\1"(id)"', value)
    value = re.sub(r"/(auto|c:\w+)/[A-Za-z0-9]{20}\b", r"/\1/(id)", value)
    return re.sub(TIME, "(time)", value)


def compared(first, second):
    """The differences of two answers. Of those with different statuses no more is said than what they are."""
    if first.get("status") == second.get("status"):
        return list(differences(first, second))
    return [("answer", outline(first), outline(second))]


def outline(answer):
    body = answer.get("body") or [answer[name] for name in answer if name == "stream"]
    error = body.get("error") if isinstance(body, dict) else None
    said = f"{error['status']} {error.get('message')}" if error else body
    return answer["failure"] if "failure" in answer else f"{answer['status']} {said}"


def differences(first, second, place=""):
    """Of two values in JSON, as (place, the first's, the second's)."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in sorted(first.keys() | second.keys()):
            yield from differences(first.get(name, "–"), second.get(name, "–"), f"{place}.{name}" if place else name)
    elif isinstance(first, list) and isinstance(second, list):
        for index in range(max(len(first), len(second))):
            yield from differences(
                first[index] if index < len(first) else "–", second[index] if index < len(second) else "–",
                f"{place}[{index}]")
    elif first != second or isinstance(first, bool) != isinstance(second, bool):
        yield place, first, second


def token(user):
    now = int(time.time())
    return "Bearer " + wire.token(user, user_id=user, iss="https://securetoken.google.com/demo-traces", aud="demo-traces", iat=now,
                                  auth_time=now, exp=now + 3600)
