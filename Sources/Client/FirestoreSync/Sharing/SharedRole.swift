// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// A client's part among those that share its cache.
///
///     secondary ──lease taken, targets of all adopted──► primary ──lease lost or given up──► secondary
///
/// The primary has the streams: it listens for all and sends the writes of all. A secondary writes into the cache,
/// announces its targets, and shows the data that the primary stores.
struct SharedRole: Sendable {
  private(set) var isPrimary = false
  /// Whether a user looks at this client's screen; such a client is preferred as the primary.
  private(set) var isVisible = false
  /// The interest of this client's own listeners in their targets.
  private(set) var announced: [TargetID: TargetInterest] = [:]
  /// The targets that the other clients' listeners want; known to the primary.
  private var foreign: Set<TargetID> = []
  /// The last announcement of the primary for each target: whether its result is complete, as the backend said.
  private var told: [TargetID: Bool] = [:]
  /// Whether nothing has been announced, because no other client was there.
  private(set) var wasAlone = true

  /// Whether the listeners of another client want the backend's answer, as far as the primary knows.
  func isWantedElsewhere(_ target: TargetID) -> Bool { isPrimary && foreign.contains(target) }

  /// Whether the primary listens for others, as far as it knows.
  var listensForOthers: Bool { isPrimary && !foreign.isEmpty }

  mutating func setVisibility(_ isVisible: Bool) { self.isVisible = isVisible }

  // MARK: Becoming primary, and ceasing to be

  mutating func takeOver() {
    isPrimary = true
    told = [:]
  }

  mutating func resign() {
    isPrimary = false
    foreign = []
    told = [:]
  }

  /// Notes which targets the other clients' listeners want.
  mutating func adopted(_ foreign: Set<TargetID>) { self.foreign = foreign }

  // MARK: Announcements

  /// Notes that there is no other client any more: the next one to come gets every announcement.
  mutating func leftAlone() { wasAlone = true }

  /// Notes that the clients that came have got every announcement.
  mutating func metNewcomers() { wasAlone = false }

  /// Notes the interest of this client's listeners in a target.
  /// - Returns: whether it changed, and has to be announced.
  mutating func setInterest(_ interest: TargetInterest?, in target: TargetID) -> Bool {
    if announced[target] == interest { return false }
    announced[target] = interest
    return true
  }

  /// Whether a result has not been announced as it is: as complete, or as incomplete.
  func isNews(_ isComplete: Bool, of target: TargetID) -> Bool { told[target] != isComplete }

  /// Notes that results were announced.
  mutating func tell(_ results: [TargetID: Bool]) { told.merge(results) { $1 } }

  /// Notes that these results were announced, and no others.
  mutating func tellAnew(_ results: [TargetID: Bool]) { told = results }

  /// Forgets the announced result of a target that is not listened to any more.
  mutating func forgetResult(of target: TargetID) { told[target] = nil }

  /// Forgets all announced results: they are not complete while the backend is not there.
  mutating func forgetResults() { told = [:] }

  /// Forgets a target that the backend refused.
  mutating func forget(_ target: TargetID) {
    announced[target] = nil
    foreign.remove(target)
    told[target] = nil
  }
}
