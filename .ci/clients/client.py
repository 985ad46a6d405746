# SPDX-License-Identifier: Apache-2.0
"""Google's client for Python at a server, doing what `hearth-bench --served-client` does, and reporting it in the same
JSON: client.py listen|change|write, at FIRESTORE_EMULATOR_HOST."""
import json, queue, re, resource, sys, time

from google.cloud import firestore

PROJECT, CHANGES, WRITES = "compare", 1000, 2000


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak():
    """The most resident memory in MB."""
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) * 1024 / 1e6


class Start:
    def __init__(self):
        self.time, self.processor = time.perf_counter(), processor_seconds()

    def result(self, count, latencies=()):
        return {
            "count": count, "seconds": time.perf_counter() - self.time,
            "processorSeconds": processor_seconds() - self.processor, "allocations": None,
            "latencies": list(latencies), "peak": peak()}


def listen(client):
    first = queue.Queue()
    start = Start()
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

    start = Start()
    watch = client.collection("changes").on_snapshot(called)
    latencies = []
    while True:
        number, latency = seen.get()
        if number < 0:
            print("ready", flush=True)
            continue
        latencies.append(latency)
        if number == CHANGES - 1:
            break
    result = start.result(len(latencies), latencies)
    watch.unsubscribe()
    return result


def write(client):
    document = client.collection("writes").document()
    document.set({"number": -1})
    start = Start()
    latencies = []
    for number in range(WRITES):
        begun = time.perf_counter()
        document.update({"number": number})
        latencies.append(time.perf_counter() - begun)
    return start.result(len(latencies), latencies)


WORK = {"listen": listen, "change": change, "write": write}
if len(sys.argv) != 2 or sys.argv[1] not in WORK:
    sys.exit("usage: client.py listen|change|write")
print(json.dumps(WORK[sys.argv[1]](firestore.Client(PROJECT))))
