// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import DashboardHost
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel
import FirestoreProxy
import Foundation
import Synchronization

/// The lines that a proxy tells: events wait in a queue with a bound, so that a slow reader does not hold the traffic.
final class TrafficLines: Sendable {
  private enum Item: Sendable {
    case event(TrafficEvent)
    case words(String)
    case line(ShownText)
    case json(JSONSyntax)
  }

  private static let most = 100_000

  private struct Queue {
    var items: [Item] = []
    var missed = 0
  }

  private let asJSON: Bool
  private let queue = Mutex(Queue())
  /// One word that there is something in the queue.
  private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let utcOffset = TimeZone.current.secondsFromGMT()

  init(asJSON: Bool) { self.asJSON = asJSON }

  func put(_ event: TrafficEvent) { put(.event(event)) }

  /// Tells something about the faults.
  func say(_ words: String) { put(.words(words)) }

  /// Tells a line as it is; among objects as words about the faults.
  func tell(_ line: String) { put(asJSON ? .words(line) : .line(ShownText(line))) }

  /// Tells where the proxy listens.
  func begin(from address: String, to target: Endpoint, asJSON: Bool) {
    if asJSON {
      put(.json(TrafficLine.listening(on: address, to: target.text)))
    } else {
      put(.line("Proxying \(address) to \(target.text)\(target.isTLS ? " with TLS" : ""). Ctrl-C ends it."))
      put(.line("export FIRESTORE_EMULATOR_HOST=\(address)"))
    }
  }

  private func put(_ item: Item) {
    let isFirst = queue.withLock { queue in
      if queue.items.count < Self.most { queue.items.append(item) } else { queue.missed += 1 }
      return queue.items.count == 1
    }
    if isFirst { signal.yield() }
  }

  /// Prints lines until cancelled; those that came together go together.
  func print() async throws {
    let output = OutputFile.standard()
    for await _ in signals {
      let (items, missed) = queue.withLock { queue in
        defer { queue = Queue() }
        return (queue.items, queue.missed)
      }
      for item in items { try print(item, output) }
      if missed > 0 {
        if asJSON {
          try output.data(line: TrafficLine.missed(missed).lineText)
        } else {
          try output.line("\(missed) events were missed")
        }
      }
      try output.flush()
    }
  }

  private func print(_ item: Item, _ output: OutputFile) throws {
    switch item {
    case .event(let event):
      let line = TrafficLine(event)
      if asJSON {
        try output.data(line: line.object.lineText)
      } else {
        try output.line(ShownText(line.text(utcOffset: utcOffset)))
      }
    case .words(let words):
      if asJSON {
        try output.data(line: TrafficLine.faults(words).lineText)
      } else {
        try output.line("faults: \(words)")
      }
    case .line(let line): try output.line(line)
    case .json(let json): try output.data(line: json.lineText)
    }
  }
}

/// An event of a proxy's traffic as a line.
struct TrafficLine {
  private typealias Member = JSONSyntax.Member
  private let event: TrafficEvent

  init(_ event: TrafficEvent) { self.event = event }

  static func listening(on address: String, to target: String) -> JSONSyntax {
    JSONSyntax(
      .object([Member("event", string("listening")), Member("at", string(address)), Member("to", string(target))]))
  }

  static func faults(_ words: String) -> JSONSyntax {
    JSONSyntax(.object([Member("event", string("faults")), Member("words", string(words))]))
  }

  static func missed(_ count: Int) -> JSONSyntax {
    JSONSyntax(.object([Member("event", string("missed")), Member("count", integer(count))]))
  }

  private static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  private static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }

  var object: JSONSyntax {
    var members = [
      Member("at", Self.string(event.time.rfc3339Text)), Member("event", Self.string(event.kind.rawValue)),
      Member("connection", Self.integer(event.connection)),
    ]
    func add(_ name: String, _ text: String?) {
      if let text, !text.isEmpty { members.append(Member(name, Self.string(text))) }
    }
    func add(_ name: String, _ number: Int?) { if let number { members.append(Member(name, Self.integer(number))) } }
    add("stream", event.stream)
    add("method", event.method)
    add("transport", event.transport?.rawValue)
    if let message = event.message {
      add("kind", message.kind)
      add("target", message.target)
      add("collection", message.collection)
      if !message.documents.isEmpty {
        members.append(Member("documents", JSONSyntax(.array(message.documents.map(Self.string)))))
      }
      if message.count > 0 { add("count", message.count) }
      if let hasToken = message.hasToken { members.append(Member("token", JSONSyntax(.boolean(hasToken)))) }
      if let content = message.content {
        // A body that is no JSON is told as text.
        let value = try? JSONSyntax(parsing: content, numbers: .ofAnySize)
        members.append(Member("content", value ?? Self.string(content)))
      }
    }
    if event.kind == .ended { add("status", event.status?.code.name) }
    add("reason", event.status?.message)
    add("httpStatus", event.httpStatus)
    add("bytes", event.bytes)
    if let duration = event.duration {
      let milliseconds = Double(duration.wholeMicroseconds) / 1000
      members.append(Member("milliseconds", JSONSyntax(.double(milliseconds))))
    }
    add("peer", event.peer)
    add("remark", event.remark)
    return JSONSyntax(.object(members))
  }

  func text(utcOffset: Int) -> String {
    var words = [event.time.timeOfDay(utcOffset: utcOffset)]
    words.append(event.stream.map { "#\($0) \(event.method)" } ?? "connection \(event.connection)")
    switch event.kind {
    case .opened: words.append("opened by \(event.transport?.rawValue ?? "")")
    case .request: words.append(">")
    case .answer: words.append("<")
    case .ended:
      words.append("ended")
      if let code = event.status?.code.name { words.append(code) }
    case .fault: words.append("fault:")
    case .connected: words.append("from \(event.peer ?? "nowhere") over")
    case .disconnected: words.append("has gone")
    case .connection: break
    }
    var details: [String] = []
    if let message = event.message {
      words.append(message.kind)
      if let target = message.target { words.append("target \(target)") }
      if let collection = message.collection { words.append(collection) }
      if !message.documents.isEmpty { words.append(message.documents.joined(separator: " ")) }
      if message.count > message.documents.count { details.append("\(message.count) in all") }
      if let hasToken = message.hasToken { details.append(hasToken ? "with a token" : "no token") }
    }
    if let reason = event.status?.message, !reason.isEmpty { details.append(reason) }
    if let status = event.httpStatus { details.append("HTTP \(status)") }
    if let bytes = event.bytes { details.append("\(bytes) bytes") }
    if let duration = event.duration { details.append("\(Double(duration.wholeMicroseconds / 100) / 10) ms") }
    if let remark = event.remark { words.append(remark) }
    if let content = event.message?.content { details.append(content) }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
      + (details.isEmpty ? "" : ", " + details.joined(separator: ", "))
  }
}
