// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreGRPC
import FirestoreJSON
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
