// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Answers to writes, for the other clients of a screen.
extension ClientBridge {
  /// Tells the answer to a write with what its author saw. An answer may overtake the note of that: then it is told when
  /// the write's own work is over, and so is its conflict.
  func tellAnswer(_ outcome: WriteOutcome) {
    if let seen = seen[outcome.batch] { return tell(outcome, seen) }
    guard let lastWrite else { return }
    request { bridge in
      await lastWrite.value
      guard let seen = bridge.seen[outcome.batch] else { return }
      bridge.tell(outcome, seen)
      if outcome.rejection == nil, let time = outcome.commitTime {
        bridge.tellConflicts(of: outcome.batch, appliedAt: time)
      } else {
        bridge.forgetSeen(with: outcome.batch)
      }
    }
  }

  private func tell(_ outcome: WriteOutcome, _ seen: SeenContents) {
    // A write that was taken back here has no answer of the server.
    if outcome.rejection?.endsWriteHere == true { return }
    let existed = seen.contents.compactMapValues { contents -> Bool? in
      switch contents {
      case .fields: true
      case .absent: false
      case .unknown: nil
      }
    }
    emit(
      .answered(
        AnsweredWrite(
          batch: outcome.batch, mutations: seen.mutations, commitTime: outcome.commitTime,
          refusal: outcome.rejection?.code, existed: existed)))
  }
}
