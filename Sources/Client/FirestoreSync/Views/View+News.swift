// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

extension View {
  /// The backend's word about a view's target, with the causes of the change.
  struct News: Sendable {
    var target: TargetChange?
    /// The version of the backend's snapshot, if one caused this.
    var version: SnapshotVersion?
    /// Whether the target has a position of the backend's with it.
    var hasPosition = false
    /// Whether the target is being sent again because its documents did not add up.
    var isPendingReset = false
    var causes: [SnapshotCause]

    init(causes: [SnapshotCause]) { self.causes = causes }

    init(_ target: TargetChange, causes: [SnapshotCause]) {
      self.init(causes: causes)
      self.target = target
      hasPosition = target.resumeToken != nil
    }

    /// - Parameter follows: whether the event's position is that of the target, too.
    init(_ event: RemoteEvent?, _ id: TargetID, _ causes: [SnapshotCause], follows: Bool) {
      self.init(causes: causes)
      guard let event else { return }
      target = event.targetChanges[id]
      version = event.version
      hasPosition = target.map { $0.resumeToken != nil } ?? follows
      isPendingReset = event.targetMismatches[id] != nil
    }
  }

  enum Result {
    case outcome(Outcome)
    /// A full limit lost a document: the step has to be continued over the whole query, and taken.
    case needsRefill(Step)
  }

  struct Outcome: Sendable {
    var snapshot: ViewSnapshot?
    var noLongerInLimbo: [DocumentKey] = []
    var newlyInLimbo: [DocumentKey] = []
  }
}
