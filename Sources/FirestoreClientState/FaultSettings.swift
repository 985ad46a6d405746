// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How the network between a client and its backend is disturbed on purpose.
package struct FaultSettings: Codable, Hashable, Sendable {
  /// Nothing can be opened, and what was open ends.
  package var isOffline = false
  /// Nothing gets through, but neither end is told: requests and messages vanish until it ends, which breaks the
  /// streams.
  package var isHalfOpen = false
  /// Before each request, answer and snapshot; the documents of a snapshot travel with it.
  package var latency: Duration = .zero
  /// Added to the latency, uniformly between zero and this.
  package var jitter: Duration = .zero
  /// The share of applied writes, in percent, whose answer is lost.
  package var lostAcknowledgements = 0

  package init() {}

  package var isCalm: Bool { self == FaultSettings() }
}

/// Something that happens to the next write.
package enum WriteFault: Codable, Hashable, Sendable {
  /// The connection breaks before the backend has seen it.
  case dropRequest
  /// The backend applies it; the connection breaks before its answer arrives.
  case dropAcknowledgement
  /// It is refused without having been applied.
  case reject(StatusCode)
}
