// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardHost
import FirestoreModel
import FirestoreProxy

/// The traffic of a proxy as a screen shows it: who is connected, who listens to what and what it was sent, which writes
/// wait, and the last requests. A value that events change.
struct TrafficBoard: Hashable, Sendable {
  struct Client: Hashable, Sendable {
    var connection: Int
    var peer: String
    var transport: String
    var since: Timestamp
    var open = 0
    var requests = 0
    var bytes = 0
  }

  /// A target of a Listen stream.
  struct Listener: Hashable, Sendable {
    enum State: String, Hashable, Sendable { case asked, receiving, current }

    var connection: Int
    var stream: Int
    var target: Int
    /// The collection or document.
    var subject: String
    var state = State.asked
    /// Whether it goes on from where an earlier stream ended.
    var isResumed: Bool
    var documents = 0
    var bytes = 0
    /// The time at which the last resume token came.
    var tokenAt: Timestamp?
    var since: Timestamp
  }

  /// A write that is not answered.
  struct Write: Hashable, Sendable {
    var connection: Int
    var stream: Int
    var method: String
    var documents: [String]
    var count: Int
    var since: Timestamp
  }

  /// A call, or a write of a stream, that has ended.
  struct Request: Hashable, Sendable {
    var time: Timestamp
    var connection: Int
    var method: String
    var subject: String
    /// The code, such as `OK` or `permission-denied`, or the status of HTTP.
    var code: String
    var isFailure: Bool
    var milliseconds: Double?
    var bytes: Int
    /// The fault that was put in, or the reason that the answer gave.
    var remark: String
  }

  /// The most entries of a list; the oldest requests are forgotten first, of others the newest are not listed.
  static let mostRequests = 500
  static let mostListed = 2_000

  private(set) var clients: [Client] = []
  private(set) var listeners: [Listener] = []
  private(set) var writes: [Write] = []
  /// The newest last.
  private(set) var requests: [Request] = []
  /// The number of requests that have ended, and of events that came too fast to be told.
  private(set) var requestCount = 0
  private(set) var missed = 0
  /// The newest thing to say about a connection.
  private(set) var lastWord: String?

  /// The subject of each open stream or call, and the fault that it has met.
  private var streams: [Int: Stream] = [:]

  private struct Stream: Hashable, Sendable {
    var subject = ""
    var fault = ""
  }

  mutating func miss(_ count: Int) { missed += count }

  mutating func note(_ event: ProtocolEvent) {
    let connection = event.connection ?? 0
    switch event.kind {
    case .connected:
      let client = Client(
        connection: connection, peer: event.address ?? "", transport: event.remark ?? "", since: event.time)
      if clients.count < Self.mostListed { clients.append(client) }
    case .disconnected:
      clients.removeAll { $0.connection == connection }
      listeners.removeAll { $0.connection == connection }
      writes.removeAll { $0.connection == connection }
    case .connection: lastWord = "connection \(connection): \(event.remark ?? "")"
    case .opened:
      change(connection) { $0.open += 1 }
      if let stream = event.stream { streams[stream] = Stream() }
    case .fault:
      if let stream = event.stream { streams[stream]?.fault = event.remark ?? "" }
      lastWord = "connection \(connection), \(event.method): \(event.remark ?? "")"
    case .request: noteRequest(event)
    case .response: noteAnswer(event)
    case .ended: noteEnd(event)
    case .listening, .faults, .missed: break
    }
  }

  private mutating func change(_ connection: Int?, _ change: (inout Client) -> Void) {
    if let index = clients.firstIndex(where: { $0.connection == connection }) { change(&clients[index]) }
  }

  // MARK: Requests

  private mutating func noteRequest(_ event: ProtocolEvent) {
    guard let stream = event.stream else { return }
    change(event.connection) { $0.bytes += event.bytes ?? 0 }
    guard let message = event.message else { return }
    let subject = message.query ?? message.documents.first ?? ""
    if streams[stream]?.subject.isEmpty == true {
      streams[stream]?.subject = Self.subject(message.documents, message.count, orElse: subject)
    }
    switch message.kind {
    case "addTarget" where !message.targets.isEmpty:
      listeners.removeAll { $0.stream == stream && $0.target == message.targets.first }
      if listeners.count < Self.mostListed {
        listeners.append(
          Listener(
            connection: event.connection ?? 0, stream: stream, target: message.targets.first ?? 0, subject: subject,
            isResumed: message.tokenLength ?? 0 > 0, since: event.time))
      }
    case "removeTarget": listeners.removeAll { $0.stream == stream && $0.target == message.targets.first }
    case "writes": wait(event, stream, message)
    case "" where Self.writing.contains(event.method): wait(event, stream, message)
    default: break
    }
  }

  private mutating func wait(_ event: ProtocolEvent, _ stream: Int, _ message: MessageSummary) {
    guard writes.count < Self.mostListed else { return }
    writes.append(
      Write(
        connection: event.connection ?? 0, stream: stream, method: event.method, documents: message.documents,
        count: message.count, since: event.time))
  }

  private static let writing: Set = ["Commit", "BatchWrite", "CreateDocument", "UpdateDocument", "DeleteDocument"]

  // MARK: Answers

  private mutating func noteAnswer(_ event: ProtocolEvent) {
    guard let stream = event.stream else { return }
    let bytes = event.bytes ?? 0
    change(event.connection) { $0.bytes += bytes }
    guard let message = event.message else { return }
    if message.kind == "writeResults", event.method == "Write" { return answerWrite(event, stream) }
    guard event.method == "Listen" else { return }
    // A change that names no target is about all of the stream.
    let isMeant = { (listener: Listener) in
      listener.stream == stream && (message.targets.isEmpty || message.targets.contains(listener.target))
    }
    if message.kind == "removed" { return listeners.removeAll(where: isMeant) }
    for index in listeners.indices where isMeant(listeners[index]) {
      listeners[index].bytes += bytes
      switch message.kind {
      case "documentChange": listeners[index].documents += 1
      case "added": listeners[index].state = .receiving
      case "current": listeners[index].state = .current
      case "reset": listeners[index].state = .receiving
      default: break
      }
      if message.tokenLength ?? 0 > 0 { listeners[index].tokenAt = event.time }
    }
  }

  /// Answers come in the order of the writes of a stream.
  private mutating func answerWrite(_ event: ProtocolEvent, _ stream: Int) {
    guard let index = writes.firstIndex(where: { $0.stream == stream }) else { return }
    let write = writes.remove(at: index)
    append(
      Request(
        time: event.time, connection: event.connection ?? 0, method: "Write",
        subject: Self.subject(write.documents, write.count), code: StatusCode.ok.name, isFailure: false,
        milliseconds: Double(event.time.microseconds - write.since.microseconds) / 1000, bytes: event.bytes ?? 0,
        remark: ""))
  }

  private mutating func noteEnd(_ event: ProtocolEvent) {
    guard let number = event.stream else { return }
    let stream = streams.removeValue(forKey: number)
    change(event.connection) {
      $0.open -= 1
      $0.requests += 1
    }
    listeners.removeAll { $0.stream == number }
    writes.removeAll { $0.stream == number }
    let code = event.status?.code.name ?? ""
    let shown = event.httpStatus.map { "HTTP \($0)" } ?? code
    let fault = stream?.fault ?? ""
    append(
      Request(
        time: event.time, connection: event.connection ?? 0, method: event.method,
        subject: stream?.subject ?? "", code: shown,
        isFailure: (event.httpStatus ?? 0) >= 400 || ![StatusCode.ok.name, ""].contains(code),
        milliseconds: event.duration.map { Double($0.wholeMicroseconds) / 1000 }, bytes: event.bytes ?? 0,
        remark: fault.isEmpty ? event.status?.message ?? "" : fault))
  }

  private mutating func append(_ request: Request) {
    requestCount += 1
    requests.append(request)
    if requests.count > Self.mostRequests { requests.removeFirst(Self.mostRequests / 5) }
  }

  private static func subject(_ documents: [String], _ count: Int, orElse other: String = "") -> String {
    guard let first = documents.first else { return other }
    return count > 1 ? "\(first) and \(count - 1) more" : first
  }
}
