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

  private let asJSON: Bool
  private let items: AsyncStream<Item>
  private let continuation: AsyncStream<Item>.Continuation
  private let missed = Atomic(0)
  private let utcOffset = TimeZone.current.secondsFromGMT()

  init(asJSON: Bool) {
    self.asJSON = asJSON
    (items, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(Self.most))
  }

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
    if case .dropped = continuation.yield(item) { missed.add(1, ordering: .relaxed) }
  }

  /// Prints lines until cancelled.
  func print() async throws {
    let output = OutputFile.standard()
    for await item in items {
      let count = missed.exchange(0, ordering: .relaxed)
      if count > 0 {
        if asJSON {
          try output.data(line: TrafficLine.missed(count).lineText)
        } else {
          try output.line("\(count) events were missed")
        }
      }
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
      try output.flush()
    }
  }
}
