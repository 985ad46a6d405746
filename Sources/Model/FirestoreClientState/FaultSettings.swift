// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

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

  package init() {}

  package var isCalm: Bool { self == FaultSettings() }
}

/// A fault that happens to the next write.
package enum WriteFault: Codable, Hashable, Sendable {
  /// The connection breaks before the backend has seen the write.
  case dropRequest
  /// The backend applies the write; the connection breaks before its answer arrives.
  case dropAcknowledgement
  /// The backend refuses the write without applying it.
  case reject(StatusCode)
}
