// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import Synchronization

/// Data that a process has to have open itself, as a server on a port does: it answers what the socket does not, and holds
/// requests to rules.
///
/// ```
/// guest ── give ──► owner ─┬─ lets the data go, and looks for it when another has it ──► the guest has the lock, or another
///                          └─ no REASON                                                  guest, who is asked next
/// ```
extension DataKeeper {
  /// The longest time for which a process that has let the data go leaves it to the others. The one that asked for it
  /// tries every ten milliseconds.
  private static let headStart = Duration.milliseconds(500)
  /// The pause between two looks at whether another process has the data.
  private static let look = Duration.milliseconds(5)
  /// The pause before an owner is asked again that has ended the connection and has the data still.
  private static let pause = Duration.milliseconds(50)

  /// Lets another process have the data, to which this one is attached then.
  /// - Returns: the reason why the data is kept; `nil` if it is let go.
  func giveUp() -> String? {
    if pausesForPort { return "it serves it on a port" }
    Task {
      await handOver(within: Self.headStart)
      let deadline = ContinuousClock.now + Self.headStart
      // The task is never cancelled, so that no sleep fails.
      while !isLockedElsewhere, .now < deadline { try? await ContinuousClock().sleep(for: Self.look) }
      takeUp()
    }
    return nil
  }

  /// Whether another process has the directory's lock.
  private var isLockedElsewhere: Bool {
    DirectoryLock.isHeld(directory) && DirectoryLock.lastHolder(of: directory)?.process != getpid()
  }

  /// Has the data open here, also if another process has it, which is asked for it.
  /// - Throws: `unavailable` if that one keeps it, says nothing or does not know the question; `cancelled`.
  func claim(until deadline: ContinuousClock.Instant) async throws(RPCStatus) {
    var asked: DataMember?
    var known: Int?
    while true {
      let passage: Passage
      do throws(RPCStatus) { passage = try await way(knowing: known) } catch {
        // An owner that was asked, and is slow to answer again, has the data still.
        let (isClosed, generation) = state.withLock { ($0.isClosed, $0.generation) }
        guard let asked, error.code != .cancelled, !isClosed else { throw error }
        if .now >= deadline { throw Self.refusal(of: asked, "it does not let it go") }
        known = generation
        continue
      }
      guard case .attached(let attachment) = passage.way else { return }
      if asked == attachment.owner {
        // An owner that ends the connection at this question has the data still.
        if .now >= deadline { throw Self.refusal(of: attachment.owner, "it does not let it go") }
        do { try await ContinuousClock().sleep(for: Self.pause) } catch { throw Self.isCancelled }
      }
      asked = attachment.owner
      change { state in
        state.refusal = nil
        state.line?.send(.claim)
      }
      switch await answer(to: passage, until: deadline) {
      case nil: continue
      case .cancelled?: throw Self.isCancelled
      case .refused(let reason)?: throw Self.refusal(of: attachment.owner, reason)
      }
    }
  }

  private static let isCancelled = RPCStatus(.cancelled, "The call was cancelled.")

  private static func refusal(of owner: DataMember, _ reason: String) -> RPCStatus {
    RPCStatus(.unavailable, "\(owner) has the data open and keeps it: \(reason).")
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
