# SPDX-License-Identifier: Apache-2.0
"""Protocols by hand, so that a script decides what is sent and read, and when: protobuf, gRPC over HTTP/2, REST, WebChannel."""
import base64, http.client, json, re, select, socket, struct, subprocess, sys, time, urllib.parse

FIRESTORE = "/google.firestore.v1.Firestore/"
OWNER = [("authorization", "Bearer owner")]
DATA, HEADERS, SETTINGS, PING, GO_AWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
LARGEST_WINDOW = (1 << 31) - 1


def varint(value):
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded) + bytes([value])


def field(number, content):
    """A field of a message in protobuf."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def framed(message):
    """A message of gRPC."""
    return b"\0" + struct.pack(">I", len(message)) + message


def token(user, **claims):
    """An unsigned token, which emulators accept."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return f"{part({'alg': 'none', 'typ': 'JWT'})}.{part({'sub': user} | claims)}."


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_block(*fields):
    """Headers without compression."""
    def text(value):
        value = value.encode()
        return (bytes([len(value)]) if len(value) < 127 else b"\x7f" + varint(len(value) - 127)) + value
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def call_headers(method, *more):
    return header_block((":method", "POST"), (":scheme", "http"), (":path", FIRESTORE + method), (":authority", "localhost"),
                        ("content-type", "application/grpc"), ("te", "trailers"), *more)


def opening(window):
    """The first bytes of a connection whose streams have a window."""
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window))


def widening(stream, count):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", count))


class Connection:
    """HTTP/2 with as little work as possible: windows as large as asked for, and frames parsed only as far as needed."""

    def __init__(self, address, window=LARGEST_WINDOW, headers=OWNER):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers, self.next_stream, self.rest, self.has_settings = headers, 1, b"", False
        # What the server's windows let through: of the connection, and of each stream.
        self.room, self.stream_room, self.initial_room = 65_535, {}, 65_535
        self.socket.sendall(opening(window) + (widening(0, LARGEST_WINDOW - 65_535) if window else b""))
        # Before the settings are confirmed, a hundred streams may be too many.
        while not self.has_settings:
            self.read()

    def fileno(self):
        return self.socket.fileno()

    def start(self, method, message, is_last):
        """Begins a call with one framed message; `is_last` if the client sends no more. Returns the stream."""
        stream = self.next_stream
        self.next_stream += 2
        self.stream_room[stream] = self.initial_room
        parts = [frame(HEADERS, 4, stream, call_headers(method, *self.headers))]
        position = 0
        while position < len(message):
            count = min(16_384, len(message) - position, self.room, self.stream_room[stream])
            if count > 0:
                is_end = position + count == len(message)
                parts.append(frame(DATA, int(is_last and is_end), stream, message[position:position + count]))
                position += count
                self.room -= count
                self.stream_room[stream] -= count
            if count <= 0 or position == len(message):
                self.socket.sendall(b"".join(parts))
                parts = []
            if count <= 0:
                self.read()
        return stream

    def read(self):
        """Waits for bytes. Returns the complete frames of streams: kind, flags, stream, payload."""
        received = self.socket.recv(1 << 20)
        if not received:
            raise ConnectionError("closed by the server")
        buffer, position, frames = self.rest + received, 0, []
        while len(buffer) - position >= 9:
            end = position + 9 + int.from_bytes(buffer[position:position + 3], "big")
            if end > len(buffer):
                break
            kind, flags, stream = struct.unpack_from(">BBI", buffer, position + 3)
            payload = buffer[position + 9:end]
            position = end
            if kind == GO_AWAY:
                raise ConnectionError(payload)
            if kind == WINDOW_UPDATE:
                self.widen(stream, struct.unpack(">I", payload)[0])
            elif kind in (SETTINGS, PING):
                if not flags & 1:
                    self.socket.sendall(frame(kind, 1, 0, payload if kind == PING else b""))
                    if kind == SETTINGS:
                        self.set(payload)
            else:
                frames.append((kind, flags, stream, payload))
        self.rest = buffer[position:]
        return frames

    def widen(self, stream, count):
        if stream == 0:
            self.room += count
        elif stream in self.stream_room:
            self.stream_room[stream] += count

    def set(self, payload):
        self.has_settings = True
        for place in range(0, len(payload), 6):
            identifier, value = struct.unpack_from(">HI", payload, place)
            if identifier == 4:
                for stream in self.stream_room:
                    self.stream_room[stream] += value - self.initial_room
                self.initial_room = value

    def call(self, method, message):
        """One call, from its message to its end."""
        stream = self.start(method, message, True)
        while not any(of == stream and flags & 1 and kind in (DATA, HEADERS) for kind, flags, of, _ in self.read()):
            pass
        self.stream_room.pop(stream, None)

    def close(self):
        self.socket.close()


class Rest:
    """REST over one connection. Requests fail with RuntimeError unless they are answered with 200."""

    def __init__(self, address, authorization="Bearer owner"):
        self.headers = {"Authorization": authorization, "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection(address, timeout=120)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, verb, path, body=None):
        self.connection.request(verb, path, None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{verb} {path}: {response.status} {text[:200]!r}")
        return json.loads(text or "null") if text[:1] in b"{[" else text

    def commit(self, documents, *writes):
        return self.ask("POST", f"/v1/{documents}:commit", {"writes": list(writes)})

    def close(self):
        self.connection.close()


def status_of(address, verb, path, body=None, **headers):
    """The status of one REST request on a connection of its own; None if no answer came."""
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request(verb, path, body, {"content-type": "application/json"} | headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Neighbor:
    """Another client, in a process of its own, which gets one document again and again: its name by gRPC, a path by REST."""

    def __init__(self, address, document, pause):
        self.process = subprocess.Popen([sys.executable, __file__, address, document, str(pause)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def end(self):
        """The longest time of a get, the median, their count, and why the client failed, or None."""
        try:
            return json.loads(self.process.communicate(timeout=70)[0])
        except (subprocess.TimeoutExpired, ValueError):
            return [float("inf"), float("inf"), 0, "no answer"]
        finally:
            self.process.kill()


def get_until_told(address, document, pause):
    times, failure = [], None
    client = Rest(address) if document.startswith("/") else Connection(address)
    request = framed(field(1, document))
    print("ready", flush=True)
    try:
        while not select.select([sys.stdin], [], [], pause)[0]:
            started = time.monotonic()
            client.ask("GET", document) if isinstance(client, Rest) else client.call("GetDocument", request)
            times.append(time.monotonic() - started)
    except (OSError, RuntimeError, http.client.HTTPException) as error:
        failure = str(error)
    times.sort()
    print(json.dumps([times[-1], times[len(times) // 2], len(times), failure] if times else [1e9, 1e9, 0, failure]))


def open_channels(address, database, collection, count):
    """Sessions of WebChannel, each with a listener on a collection and an open back channel. Returns the back channels."""
    host, port = address.split(":")
    target = json.dumps({"database": database, "addTarget": {"targetId": 2, "query": {
        "parent": database + "/documents", "structuredQuery": {"from": [{"collectionId": collection}]}}}})
    path = f"{FIRESTORE}Listen/channel?VER=8&database={urllib.parse.quote(database, safe='')}"
    form = "count=1&ofs=0&req0___data__=" + urllib.parse.quote(target, safe="")
    line, back_channels = http.client.HTTPConnection(address), []
    for _ in range(count):
        line.request("POST", path + "&RID=1&CVER=22", form, {"Content-Type": "application/x-www-form-urlencoded"})
        response = line.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise RuntimeError(f"No session: {response.status} {text}")
        session = re.search(r'"c","([^"]+)"', text)[1]
        back = socket.create_connection((host, int(port)))
        back.sendall(f"GET {path}&SID={session}&RID=rpc&AID=0&CI=0&TYPE=xmlhttp HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        back_channels.append(back)
    line.close()
    return back_channels


if __name__ == "__main__":
    get_until_told(sys.argv[1], sys.argv[2], float(sys.argv[3]))
