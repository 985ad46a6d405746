// SPDX-License-Identifier: Apache-2.0

/// The settings by which the network between a client and its backend is disturbed on purpose.
package struct FaultSettings: Codable, Hashable, Sendable {
  /// Whether no stream can be opened, and open ones end.
  package var isOffline = false
  /// Whether nothing gets through without either end being told: requests and messages vanish until this ends, which
  /// breaks the streams.
  package var isHalfOpen = false
  /// The delay before each request, answer and snapshot; the documents of a snapshot travel with it.
  package var latency: Duration = .zero
  /// The delay added to the latency, uniformly between zero and this.
  package var jitter: Duration = .zero
  /// The share of applied writes, in percent, whose answer is lost.
  package var lostAcknowledgements = 0
  /// The share of writes, in percent, that are lost before the backend sees them.
  package var lostRequests = 0
  /// The bytes that each stream or call carries a second in each direction; `nil` for as many as it can.
  package var bandwidth: Int?
  /// The bytes of answers that the client takes a second from each stream or call; `nil` for as many as it can.
  package var readingRate: Int?
  /// The time for which the backend is unreachable and reachable by turns; `nil` where it does not come and go.
  package var flap: Duration?
  /// The settings of one kind of calls, which win over those of all.
  package var lanes: [FaultLane: Lane] = [:]

  /// The settings of one kind of calls; what is `nil` is as for all.
  package struct Lane: Codable, Hashable, Sendable {
    package var latency: Duration?
    package var jitter: Duration?
    package var bandwidth: Int?
    package var isOffline: Bool?

    package init() {}
  }

  package init() {}

  package var isCalm: Bool { self == FaultSettings() }

  /// The delay of a message and what may be added to it.
  package func delay(on lane: FaultLane) -> (latency: Duration, jitter: Duration) {
    (lanes[lane]?.latency ?? latency, lanes[lane]?.jitter ?? jitter)
  }

  package func bandwidth(on lane: FaultLane) -> Int? { lanes[lane]?.bandwidth ?? bandwidth }

  package func isOffline(_ lane: FaultLane) -> Bool { isOffline || lanes[lane]?.isOffline == true }
}

/// A kind of calls between a client and its backend.
package enum FaultLane: String, Codable, CaseIterable, CodingKeyRepresentable, Hashable, Sendable {
  /// The streams of listeners.
  case watch
  /// The write stream, and commits outside of it.
  case write
  /// Everything else.
  case read
}
