// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The network faults that are injected between a client and its backend.
package struct FaultSettings: Hashable, Sendable {
  /// Whether the backend is unreachable: open streams end, and no stream can be opened.
  package var isOffline = false
  /// Whether all traffic is lost without either end detecting it. When the fault ends, the streams break.
  package var isHalfOpen = false
  /// The delay of each request, response and snapshot. A snapshot and its documents are delayed together.
  package var latency: Duration = .zero
  /// The maximum random delay that is added to `latency`. The random delay is uniformly distributed between zero and
  /// this value.
  package var jitter: Duration = .zero
  /// The percentage of applied writes whose acknowledgement is lost.
  package var lostAcknowledgements = 0
  /// The percentage of writes that are lost before they reach the backend.
  package var lostRequests = 0
  /// The bandwidth of each stream or call in each direction, in bytes per second; `nil` for no limit.
  package var bandwidth: Int?
  /// The rate at which the client reads from each stream or call, in bytes per second; `nil` for no limit.
  package var readingRate: Int?
  /// The period with which the backend alternates between unreachable and reachable (flapping); `nil` if it does not.
  package var flap: Duration?
  /// The settings of single lanes (groups of calls), which override the settings for all lanes.
  package var lanes: [FaultLane: Lane] = [:]

  /// The settings of one lane. If a setting is `nil`, the setting for all lanes applies to this lane.
  package struct Lane: Hashable, Sendable {
    package var latency: Duration?
    package var jitter: Duration?
    package var bandwidth: Int?
    package var isOffline: Bool?

    package init() {}
  }

  package init() {}

  package var isCalm: Bool { self == FaultSettings() }

  /// The delay and the maximum jitter of a message on a lane.
  package func delay(on lane: FaultLane) -> (latency: Duration, jitter: Duration) {
    (lanes[lane]?.latency ?? latency, lanes[lane]?.jitter ?? jitter)
  }

  package func bandwidth(on lane: FaultLane) -> Int? { lanes[lane]?.bandwidth ?? bandwidth }

  package func isOffline(_ lane: FaultLane) -> Bool { isOffline || lanes[lane]?.isOffline == true }
}

/// A group of calls between a client and its backend.
package enum FaultLane: String, CaseIterable, Hashable, Sendable {
  /// The streams of listeners.
  case watch
  /// The write stream, and commits that do not use this stream.
  case write
  /// All other calls.
  case read
}

/// A fault that affects the next write.
package enum WriteFault: Hashable, Sendable {
  /// The connection breaks before the write reaches the backend.
  case dropRequest
  /// The backend applies the write, but the connection breaks before the acknowledgement arrives.
  case dropAcknowledgement
  /// The backend rejects the write without applying it.
  case reject(StatusCode)
}

/// A fault that happens once.
package enum FaultEvent: Hashable, Sendable {
  case write(WriteFault)
  /// The backend rejects the next read.
  case read(StatusCode)
  /// The backend rejects the next listen request, whether it is a new or a repeated one.
  case listen(StatusCode)
  /// All streams and calls end. With `withoutTokens`, the backend also forgets its resume tokens, so listeners must
  /// receive all documents again.
  case restart(withoutTokens: Bool)
  /// Calls fail with `unauthenticated` until the client sends a new token or reconnects.
  case expireToken
}

/// A single change of the faults between a client and its backend. `FaultText` converts it to text and back.
package enum FaultChange: Hashable, Sendable {
  /// Whether the change is a one-time fault, which changes no settings.
  package var isOnce: Bool { if case .event = self { true } else { false } }

  case latency(Duration, jitter: Duration, on: FaultLane?)
  /// The bandwidth of each stream in bytes per second; `nil` for no limit.
  case bandwidth(Int?, on: FaultLane?)
  /// The percentage of writes that are lost. If `before` is true, they are lost before the backend applies them; if
  /// false, only their acknowledgements are lost.
  case loss(Int, before: Bool)
  case down(FaultLane?)
  /// Ends the faults `down`, `silent` and `flap`.
  case up
  case silent
  case flap(Duration?)
  case slowReader(Int?)
  case event(FaultEvent)
  /// Ends all faults, including one-time faults that have not been injected yet.
  case calm

  /// The reason why the change has no effect for a client of Hearth; `nil` if it has an effect.
  package var objectionOfClients: String? {
    guard case .event(.expireToken) = self else { return nil }
    return "expire-token needs a client that sends a token, but this connection has none. Use 'hearth proxy'."
  }
}

extension FaultSettings {
  /// Applies a change to the settings. A one-time fault changes no setting.
  package mutating func apply(_ change: FaultChange) {
    switch change {
    case .latency(let latency, let jitter, on: let lane?):
      lanes[lane, default: Lane()].latency = latency
      lanes[lane, default: Lane()].jitter = jitter
    case .latency(let latency, let jitter, on: nil):
      (self.latency, self.jitter) = (latency, jitter)
      for lane in lanes.keys {
        lanes[lane]?.latency = nil
        lanes[lane]?.jitter = nil
      }
    case .bandwidth(let rate, on: let lane?): lanes[lane, default: Lane()].bandwidth = rate
    case .bandwidth(let rate, on: nil):
      bandwidth = rate
      for lane in lanes.keys { lanes[lane]?.bandwidth = nil }
    case .loss(let share, before: true): lostRequests = share
    case .loss(let share, before: false): lostAcknowledgements = share
    case .down(let lane?): lanes[lane, default: Lane()].isOffline = true
    case .down(nil): isOffline = true
    case .up:
      (isOffline, isHalfOpen, flap) = (false, false, nil)
      for lane in lanes.keys { lanes[lane]?.isOffline = nil }
    case .silent: isHalfOpen = true
    case .flap(let period): flap = period
    case .slowReader(let rate): readingRate = rate
    case .event: break
    case .calm: self = FaultSettings()
    }
    lanes = lanes.filter { $0.value != Lane() }
  }
}
