// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSync
import Foundation

/// Writes many documents in large commits, several of which are in flight at the same time. Each commit is atomic, but
/// the whole operation is not.
package struct BulkWriter {
  /// The writes to one document, which are applied atomically.
  package struct Unit: Sendable {
    var key: DocumentKey
    var mutations: [Mutation]
    /// The approximate size of the fields in bytes.
    var bytes = 0
    /// The mutation that deletes the document's original in another database. It is committed there after `mutations`
    /// are committed.
    var removal: Mutation?
  }

  package struct Outcome: Sendable {
    package var written = 0
    /// Documents that were not written because they do not satisfy the preconditions of their writes, with the status.
    package var skipped: [(key: DocumentKey, status: RPCStatus)] = []

    package init(written: Int = 0, skipped: [(key: DocumentKey, status: RPCStatus)] = []) {
      (self.written, self.skipped) = (written, skipped)
    }

    package mutating func add(_ other: Outcome) {
      written += other.written
      skipped += other.skipped
    }
  }

  /// The maximum number of writes in one commit (PROTOCOL §3.10).
  private static let writeLimit = 500
  /// The maximum size of a commit in bytes. The protocol allows 10 MB.
  private static let byteLimit = 4 << 20
  private static let maximumCommits = 4

  package let datastore: any Datastore
  /// Whether it is safe to apply each write twice.
  package let isRepeatable: Bool
  /// The backend that commits `Unit.removal`; `nil` for none.
  package var origin: (any Datastore)?
  var retries = CommitRetries()

  /// - Parameters:
  ///   - source: provides the units: it calls its argument with each unit. Each document occurs in at most one unit.
  ///   - progress: called after each commit with the count of written documents. If it throws an error, the work ends.
  /// - Throws: `Interruption` for a failure that is not about single documents. It contains the outcome so far.
  package func write(
    _ source: (_ add: (Unit) async throws -> Void) async throws -> Void, progress: @escaping (Int) throws -> Void
  ) async throws -> Outcome {
    var outcome = Outcome()
    // Errors leave the closure as values, so that commits in flight are counted.
    var failure: (any Error)?
    await withTaskGroup(of: Result<Outcome, RPCStatus>.self) { group in
      var (running, pending) = (0, Pending())
      func settle() async throws {
        guard let result = await group.next() else { return }
        running -= 1
        outcome.add(try result.get())
        try progress(outcome.written)
      }
      func commit() async throws {
        if running == Self.maximumCommits { try await settle() }
        let units = pending.units
        pending = Pending()
        running += 1
        group.addTask { await self.commit(units) }
      }
      do {
        try await source { unit in
          if !pending.hasRoom(for: unit) { try await commit() }
          pending.add(unit)
        }
        if !pending.units.isEmpty { try await commit() }
      } catch {
        failure = error
      }
      while running > 0 {
        do { try await settle() } catch { failure = failure ?? error }
      }
    }
    if let failure { throw Interruption(cause: failure, done: outcome) }
    return outcome
  }

  /// The units of the next commit.
  private struct Pending {
    private(set) var units: [Unit] = []
    private var writes = 0
    private var bytes = 0

    func hasRoom(for unit: Unit) -> Bool {
      units.isEmpty || writes + unit.mutations.count <= writeLimit && bytes + unit.bytes <= byteLimit
    }

    mutating func add(_ unit: Unit) {
      units.append(unit)
      writes += unit.mutations.count
      bytes += unit.bytes
    }
  }

  /// The reason why writing ended early, and the outcome so far.
  package struct Interruption: Error {
    package var cause: any Error
    package var done: Outcome

    /// - Parameters:
    ///   - verb: the verb for messages as a participle, such as `updated`.
    ///   - advice: a sentence about how to continue; `nil` for none.
    package func failure(_ verb: String, advice: String? = nil) -> any Error {
      let done = "\(verb.capitalized) so far: \(self.done.written)\(advice.map { "; \($0)" } ?? "")."
      switch cause {
      case let status as RPCStatus:
        return CommandFailure(ExitStatus(status), "\(status) \(done)")
      case let failure as CommandFailure: return CommandFailure(failure.status, "\(failure.message) \(done)")
      default: return cause
      }
    }
  }

  /// Commits all units together. If a document does not satisfy a precondition, commits each half separately.
  private func commit(_ units: [Unit]) async -> Result<Outcome, RPCStatus> {
    do throws(RPCStatus) {
      try await retries.commit(units.flatMap(\.mutations), at: datastore, isRepeatable: isRepeatable)
    } catch {
      return await inHalves(units, after: error, commit)
    }
    return await remove(units)
  }

  /// Deletes the originals of written documents, unless they have changed since they were read.
  private func remove(_ units: [Unit]) async -> Result<Outcome, RPCStatus> {
    if let origin {
      do throws(RPCStatus) {
        try await retries.commit(units.compactMap(\.removal), at: origin, isRepeatable: false)
      } catch {
        return await inHalves(units, after: error, remove)
      }
    }
    return .success(Outcome(written: units.count))
  }

  /// Commits each half of the units separately, because one document made the whole commit fail.
  private func inHalves(
    _ units: [Unit], after error: RPCStatus, _ commit: ([Unit]) async -> Result<Outcome, RPCStatus>
  ) async -> Result<Outcome, RPCStatus> {
    guard error.isAboutState else { return .failure(error) }
    if units.count == 1 { return .success(Outcome(skipped: [(units[0].key, error)])) }
    var outcome = Outcome()
    for half in [units.prefix(units.count / 2), units.dropFirst(units.count / 2)] {
      switch await commit(Array(half)) {
      case .success(let done): outcome.add(done)
      case .failure(let status): return .failure(status)
      }
    }
    return .success(outcome)
  }
}

extension RPCStatus {
  /// Whether the status means that a document does not satisfy the precondition of its write.
  fileprivate var isAboutState: Bool {
    code == .notFound || code == .alreadyExists || code == .failedPrecondition
  }
}

extension RPCStatus {
  /// Whether the server would reject the same document again but may accept other documents.
  fileprivate var isAboutDocuments: Bool { code == .invalidArgument || code == .outOfRange }
}

/// Commits writes, and retries a commit if that can help.
struct CommitRetries: Sendable {
  private static let attempts = 6
  var clock: any Clock<Duration> = ContinuousClock()

  /// Commits writes that are safe to repeat. Retries unless the server rejects the documents themselves.
  /// - Returns: the rejection of the documents, if any.
  func refusal(of mutations: [Mutation], at datastore: any Datastore) async throws(RPCStatus) -> RPCStatus? {
    let failure: RPCStatus
    do throws(RPCStatus) {
      try await commit(mutations, at: datastore)
      return nil
    } catch {
      failure = error
    }
    if failure.isAboutDocuments { return failure }
    throw failure
  }

  /// - Parameter isRepeatable: whether it is safe to apply the writes twice. If so, they are sent again after a lost
  ///   response.
  func commit(
    _ mutations: [Mutation], at datastore: any Datastore, isRepeatable: Bool = true
  ) async throws(RPCStatus) {
    var backoff = Backoff()
    var random = SystemRandomNumberGenerator()
    _ = backoff.next(using: &random)
    for _ in 1..<Self.attempts {
      do throws(RPCStatus) {
        _ = try await datastore.commit(mutations)
        return
      } catch {
        switch error.code {
        case .aborted, .resourceExhausted: break
        case .unavailable, .deadlineExceeded, .internal: if !isRepeatable { throw error }
        default: throw error
        }
      }
      do {
        try await clock.sleep(for: backoff.next(using: &random))
      } catch {
        throw RPCStatus(.cancelled, "The writes were interrupted.")
      }
    }
    _ = try await datastore.commit(mutations)
  }
}
