// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The settings by which the network between a client and its backend is disturbed on purpose.
package struct FaultSettings: Hashable, Sendable {
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
  package struct Lane: Hashable, Sendable {
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
package enum FaultLane: String, CaseIterable, Hashable, Sendable {
  /// The streams of listeners.
  case watch
  /// The write stream, and commits outside of it.
  case write
  /// Everything else.
  case read
}

/// A fault that happens to the next write.
package enum WriteFault: Hashable, Sendable {
  /// The connection breaks before the backend has seen the write.
  case dropRequest
  /// The backend applies the write; the connection breaks before its answer arrives.
  case dropAcknowledgement
  /// The backend refuses the write without applying it.
  case reject(StatusCode)
}

/// A fault that happens once.
package enum FaultEvent: Hashable, Sendable {
  case write(WriteFault)
  /// The next read is refused.
  case read(StatusCode)
  /// The next listener that is opened, or opened again, is refused.
  case listen(StatusCode)
  /// All streams and calls end. Without tokens the backend has forgotten what it told: listeners begin anew.
  case restart(withoutTokens: Bool)
  /// Calls are unauthenticated until the client sends another token, or has connected again.
  case expireToken
}

/// One change of the faults between a client and its backend, as people type it; the text is `FaultText`'s.
package enum FaultChange: Hashable, Sendable {
  case latency(Duration, jitter: Duration, on: FaultLane?)
  /// Bytes a second for each stream; `nil` for no bound.
  case bandwidth(Int?, on: FaultLane?)
  /// A share of writes in percent, lost before or after the backend has applied them.
  case loss(Int, before: Bool)
  case down(FaultLane?)
  /// Undoes `down`, `silent` and `flap`.
  case up
  case silent
  case flap(Duration?)
  case slowReader(Int?)
  case event(FaultEvent)
  /// Ends all faults, also those that wait for a call.
  case calm

  /// The reason why the change means nothing between a client of Hearth and its datastore; `nil` if it does.
  package var objectionOfClients: String? {
    guard case .event(.expireToken) = self else { return nil }
    return "expire-token needs a client that sends a token, and no token passes here. hearth proxy knows it."
  }
}

extension FaultSettings {
  /// Changes the settings. An event, which happens once, changes none.
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
