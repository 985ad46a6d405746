// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardHost
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel
import Foundation
import Synchronization

/// Prints lines about the events of a proxy. Events wait in a bounded queue, so that a slow reader does not delay the
/// traffic.
final class ProxyLines: Sendable {
  private enum Item: Sendable {
    case event(ProtocolEvent)
    case line(ShownText)
  }

  private static let most = 100_000

  private struct Queue {
    var items: [Item] = []
    var missed = 0
  }

  private let asJSON: Bool
  private let hasContents: Bool
  private let queue = Mutex(Queue())
  /// Yields when the queue is no longer empty.
  private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let utcOffset = TimeZone.current.secondsFromGMT()

  init(asJSON: Bool, hasContents: Bool) { (self.asJSON, self.hasContents) = (asJSON, hasContents) }

  /// Queues an event for printing. The contents of its message are included only if the user requested this and they
  /// have at most `longestContent` bytes.
  func put(_ event: ProtocolEvent) {
    var event = event
    if !hasContents || event.bytes ?? 0 > Self.longestContent { event.message?.content = nil }
    put(.event(event))
  }

  /// The maximum size in bytes of a message whose contents are printed.
  static let longestContent = 64 << 10

  /// Prints a remark about the faults.
  func say(_ words: String) {
    var event = ProtocolEvent(.faults, at: .now)
    event.remark = words
    put(.event(event))
  }

  /// Prints a line. In JSON output, the line is part of a `faults` event.
  func show(_ line: String) { if asJSON { say(line) } else { put(.line(ShownText(line))) } }

  /// Prints the address that the proxy listens on.
  func begin(from address: String, to target: Endpoint) {
    if asJSON {
      var event = ProtocolEvent(.listening, at: .now)
      (event.address, event.remark) = (address, "to \(target.text)")
      put(.event(event))
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

  /// Prints lines until the task is canceled. Lines that are waiting are written together.
  func print() async throws {
    let output = OutputFile.standard()
    for await _ in signals {
      let (items, missed) = queue.withLock { queue in
        defer { queue = Queue() }
        return (queue.items, queue.missed)
      }
      for item in items { try print(item, output) }
      if missed > 0 { try print(.event(ProtocolEvent(missed: missed, at: .now)), output) }
      try output.flush()
    }
  }

  private func print(_ item: Item, _ output: OutputFile) throws {
    switch item {
    case .event(let event) where asJSON: try output.data(line: event.json(JSONContext()).lineText)
    case .event(let event):
      try output.line(ShownText(MessageReport.sentence(event, offset: utcOffset, hasContents: hasContents)))
    case .line(let line): try output.line(line)
    }
  }
}
