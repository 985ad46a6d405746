// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreClientState
import FirestoreModel
import FirestoreSync
import HearthTesting

// The checks after the last step.

extension ScenarioRun {
  /// Waits for the answers to all writes, so that the end of the scenario loses no write and misses no rejection.
  /// - Throws: for writes without an answer, writes that were not sent, and failures that no step expected.
  func finish(_ stage: ScenarioStage) async throws {
    for client in stage.all where client.isOnline {
      let done = try await before(ScenarioStep.patience) {
        try await client.engine.waitForPendingWrites()
        return ScenarioEvent(kind: .acknowledged)
      }
      if done != nil { continue }
      let count = await tellQueue(of: client, "has no answer")
      throw CommandFailure(
        .tryAgain, "\(name): \(count.writes) not answered within \(ScenarioStep.patience)\(Self.kept(client)).")
    }
    for client in stage.all {
      for event in client.events.rest {
        if let failure = event.failure { throw CommandFailure(Self.status(of: event), failure) }
      }
    }
    for client in stage.all where !client.isOnline {
      let count = await tellQueue(of: client, "was not sent")
      if count > 0 { throw CommandFailure(.failure, "\(name): \(count.writes) not sent\(Self.kept(client)).") }
    }
  }

  private static func kept(_ client: ScenarioClient) -> String {
    client.opened.keepsCache ? "; the cache keeps what is in its queue" : " and lost"
  }

  /// Reports each write that waits.
  /// - Returns: the number of waiting writes.
  private func tellQueue(of client: ScenarioClient, _ what: String) async -> Int {
    guard let status = await client.engine.statusNow() else { return 0 }
    for write in status.pendingWrites {
      let words = write.mutations.map { "\($0.operation.verb) \($0.key.path)" }.joined(separator: ", ")
      let reason = write.lastError.map { " (\($0))" } ?? ""
      let owner = client.name.map { " of \($0)" } ?? ""
      note("write #\(write.id.rawValue)\(owner), \(words), \(what)\(reason).")
    }
    return status.waitingWrites
  }
}

extension Int {
  /// `1 write was`, `2 writes were`
  fileprivate var writes: String { "\(self) write\(self == 1 ? " was" : "s were")" }
}

extension Mutation.Operation {
  /// The operation's verb in a scenario.
  fileprivate var verb: String {
    switch self {
    case .set: "set"
    case .patch: "update"
    case .delete: "delete"
    case .verify: "verify"
    }
  }
}
