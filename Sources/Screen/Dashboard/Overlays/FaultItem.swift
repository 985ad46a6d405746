// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreClientState
import FirestoreModel
import FirestoreText

/// The items of the network fault menu, each with a letter. Choosing a setting advances it to its next value. Choosing
/// a one-time fault applies it to the next write.
package enum FaultItem: CaseIterable, Hashable, Sendable {
  case latency, jitter, loss, unplug, silence
  case deny, notFound, abort, dropAcknowledgement, dropRequest
  case calm

  package var letter: Character {
    switch self {
    case .latency: "l"
    case .jitter: "i"
    case .loss: "a"
    case .unplug: "u"
    case .silence: "s"
    case .deny: "r"
    case .notFound: "n"
    case .abort: "b"
    case .dropAcknowledgement: "w"
    case .dropRequest: "d"
    case .calm: "c"
    }
  }

  package var title: String {
    switch self {
    case .latency: "latency"
    case .jitter: "jitter on top of it"
    case .loss: "acknowledgements lost"
    case .unplug: "unplug the server"
    case .silence: "silence: nothing arrives"
    case .deny: "reject the next write"
    case .notFound: "reject the next write"
    case .abort: "fail the next write"
    case .dropAcknowledgement: "lose the next answer"
    case .dropRequest: "lose the next write"
    case .calm: "calm: no faults"
    }
  }

  /// The one-time fault for the next write; `nil` for settings.
  var writeFault: WriteFault? {
    switch self {
    case .deny: .reject(.permissionDenied)
    case .notFound: .reject(.notFound)
    case .abort: .reject(.aborted)
    case .dropAcknowledgement: .dropAcknowledgement
    case .dropRequest: .dropRequest
    case .latency, .jitter, .loss, .unplug, .silence, .calm: nil
    }
  }

  /// The current value of a setting. For a one-time fault, its effect and how many such faults wait for a write.
  package func detail(_ state: DashboardState) -> String {
    let count = waitingCount(state)
    let armed = count == 0 ? "" : count == 1 ? "armed: " : "armed \(count) times: "
    return armed + detail(state.faults.settings, isCalm: state.faultText == nil)
  }

  /// The number of one-time faults of this kind that wait for a write.
  private func waitingCount(_ state: DashboardState) -> Int {
    writeFault.map { fault in state.faults.waiting.count { $0 == .write(fault) } } ?? 0
  }

  fileprivate func detail(_ settings: FaultSettings, isCalm: Bool) -> String {
    switch self {
    case .latency: Self.text(settings.latency)
    case .jitter: Self.text(settings.jitter)
    case .loss: "\(settings.lostAcknowledgements) %"
    case .unplug: settings.isOffline ? "unplugged" : "off"
    case .silence: settings.isHalfOpen ? "silent" : "off"
    case .deny: "permission-denied"
    case .notFound: "not-found"
    case .abort: "aborted, so it is sent again"
    case .dropAcknowledgement: "applied, then sent again"
    case .dropRequest: "not applied, then sent again"
    case .calm: isCalm ? "" : "ends all of the above"
    }
  }

  private static func text(_ time: Duration) -> String { "+\(TimeText.wholeMilliseconds(time)) ms" }

  package func isOn(_ state: DashboardState) -> Bool {
    switch self {
    case .latency: state.faults.settings.latency != .zero
    case .jitter: state.faults.settings.jitter != .zero
    case .loss: state.faults.settings.lostAcknowledgements > 0
    case .unplug: state.faults.settings.isOffline
    case .silence: state.faults.settings.isHalfOpen
    case .deny, .notFound, .abort, .dropAcknowledgement, .dropRequest: waitingCount(state) > 0
    case .calm: false
    }
  }
}

extension FaultSettings {
  private static let latencies: [Duration] = [.zero, .milliseconds(100), .milliseconds(500), .seconds(2)]
  private static let losses = [0, 10, 50, 100]

  /// Advances a setting to its next value.
  mutating func advance(_ item: FaultItem) {
    switch item {
    case .latency: latency = Self.next(latency, in: Self.latencies)
    case .jitter: jitter = Self.next(jitter, in: Self.latencies)
    case .loss: lostAcknowledgements = Self.next(lostAcknowledgements, in: Self.losses)
    case .unplug: isOffline.toggle()
    case .silence: isHalfOpen.toggle()
    case .calm: self = FaultSettings()
    case .deny, .notFound, .abort, .dropAcknowledgement, .dropRequest: break
    }
  }

  private static func next<T: Comparable>(_ value: T, in values: [T]) -> T { values.first { $0 > value } ?? values[0] }
}

extension DashboardState {
  /// Performs the action of a row of the fault menu.
  mutating func choose(_ item: FaultItem) -> [Effect] {
    if let fault = item.writeFault {
      toast(.info, "\(item.title): \(item.detail(faults.settings, isCalm: false))")
      return [.client(.causeFault(.write(fault)))]
    }
    faults.settings.advance(item)
    return [.client(.setFaults(faults.settings))]
  }

  /// Applies a typed change to the faults. A message describes the effects that the screen does not show.
  package mutating func cause(_ change: FaultChange) -> [Effect] {
    switch change {
    case .event(let event):
      toast(.info, FaultText.account(of: change))
      return [.client(.causeFault(event))]
    default:
      faults.settings.apply(change)
      return [.client(.setFaults(faults.settings))]
    }
  }
}
