// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// Counts what goes over the two streams, and keeps the time of the last message of each.
struct StreamMeters: Sendable {
  private struct Meter {
    var begun = 0
    var since: Timestamp?
    var sent = 0
    var received = 0
    var heardAt: Timestamp?
  }

  private var meters: [StreamKind: Meter] = [:]

  mutating func began(_ kind: StreamKind, at now: Timestamp) {
    meters[kind, default: Meter()].begun += 1
    meters[kind]?.since = now
  }

  mutating func sent(_ kind: StreamKind) { meters[kind, default: Meter()].sent += 1 }

  mutating func received(_ kind: StreamKind, _ messages: Int, at now: Timestamp) {
    meters[kind, default: Meter()].received += messages
    meters[kind]?.heardAt = now
  }

  /// - Parameter longestSilence: the silence after which the stream is given up.
  func use(
    of kind: StreamKind, _ status: StreamStatus, bytes: StreamUse.Bytes?, longestSilence: Duration?
  ) -> StreamUse {
    let meter = meters[kind] ?? Meter()
    return StreamUse(
      kind: kind == .watch ? .watch : .write, status: status, begun: meter.begun, since: meter.since,
      messagesSent: meter.sent, messagesReceived: meter.received, heardAt: meter.heardAt, bytes: bytes,
      longestSilence: longestSilence)
  }
}
