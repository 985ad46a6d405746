// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreServer
import Synchronization

/// Data that a process has to have open itself, because only who has it open can hold requests to rules.
///
/// ```
/// guest ── give ──► owner ─┬─ lets the data go and looks for it again a moment later ──► the guest has the lock, or another
///                          └─ no REASON                                                 guest, who is asked next
/// ```
extension DataKeeper {
  /// For how long who has let the data go leaves it to the others. Who asked for it tries every ten milliseconds.
  private static let headStart = Duration.milliseconds(500)

  /// Lets another process have the data, to which this one is attached then.
  /// - Returns: why it is kept.
  func giveUp() -> String? {
    if pausesForPort { return "it serves the data on a port, which would lead past what another enforces" }
    Task {
      await handOver(within: Self.headStart)
      try? await ContinuousClock().sleep(for: Self.headStart)
      takeUp()
    }
    return nil
  }

  /// Has the data open here, also if another process has it, which is asked for it.
  /// - Throws: `unavailable` if that one keeps it, or says nothing; `cancelled`.
  func claim(until deadline: ContinuousClock.Instant) async throws(RPCStatus) {
    while true {
      let passage = try await way()
      guard case .attached(let attachment) = passage.way else { return }
      change { state in
        state.refusal = nil
        state.line?.send(.claim)
      }
      switch await answer(to: passage, until: deadline) {
      case nil: continue
      case .cancelled?: throw RPCStatus(.cancelled, "The call was cancelled.")
      case .refused(let reason)?:
        throw RPCStatus(.unavailable, "\(attachment.owner) has the data open and keeps it: \(reason).")
      }
    }
  }

  private enum Answer {
    case refused(String)
    case cancelled
  }

  /// - Returns: `nil` when the owner has let the data go, or is gone.
  private func answer(to passage: Passage, until deadline: ContinuousClock.Instant) async -> Answer? {
    await withTaskGroup(of: Answer?.self) { group in
      group.addTask {
        for await _ in self.changes() {
          let (refusal, isOver) = self.state.withLock { ($0.refusal, !$0.isOn(passage)) }
          if isOver { return nil }
          if let refusal { return .refused(refusal) }
        }
        return .cancelled
      }
      group.addTask {
        do { try await ContinuousClock().sleep(until: deadline) } catch { return .cancelled }
        return .refused("it does not answer")
      }
      defer { group.cancelAll() }
      return await group.next() ?? .cancelled
    }
  }
}
