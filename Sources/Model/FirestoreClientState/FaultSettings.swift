// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The network faults that are injected between a client and its backend.
package struct FaultSettings: Hashable, Sendable {
  /// Whether open streams end and no stream can be opened.
  package var isOffline = false
  /// Whether all traffic is lost and neither end detects it. When the fault ends, the streams break.
  package var isHalfOpen = false
  /// The delay before each request, response and snapshot. A snapshot and its documents are delayed together.
  package var latency: Duration = .zero
  /// The maximum random delay that is added to `latency`. The added delay is uniformly distributed between zero and
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
  /// The period of a flapping backend, which alternates between unreachable and reachable; `nil` if the backend does
  /// not flap.
  package var flap: Duration?
  /// The settings of individual lanes, which override the settings for all lanes.
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

  /// The delay and the maximum jitter for a message on a lane.
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
  /// The write stream, and commits outside of it.
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
  /// The backend rejects the next listen request, whether the request is new or repeated.
  case listen(StatusCode)
  /// All streams and calls end. With `withoutTokens`, the backend also forgets its resume tokens, so listeners start
  /// over.
  case restart(withoutTokens: Bool)
  /// Calls fail with `unauthenticated` until the client sends another token or reconnects.
  case expireToken
}

/// A single change of the faults between a client and its backend. `FaultText` converts it from and to text.
package enum FaultChange: Hashable, Sendable {
  /// Whether the change is a one-time event, which changes no settings.
  package var isOnce: Bool { if case .event = self { true } else { false } }

  case latency(Duration, jitter: Duration, on: FaultLane?)
  /// The bandwidth in bytes per second for each stream; `nil` for no limit.
  case bandwidth(Int?, on: FaultLane?)
  /// The percentage of writes that are lost. `before` is true if they are lost before the backend applies them, and
  /// false if only their acknowledgements are lost.
  case loss(Int, before: Bool)
  case down(FaultLane?)
  /// Undoes `down`, `silent` and `flap`.
  case up
  case silent
  case flap(Duration?)
  case slowReader(Int?)
  case event(FaultEvent)
  /// Ends all faults, including faults that are waiting for a call.
  case calm

  /// The reason why the change has no effect between a client of Hearth and its datastore; `nil` if it has an effect.
  package var objectionOfClients: String? {
    guard case .event(.expireToken) = self else { return nil }
    return "expire-token needs a client that sends a token, but this connection has none. Use 'hearth proxy'."
  }
}

extension FaultSettings {
  /// Applies a change to the settings. A one-time event changes no setting.
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
