// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSync
import Foundation

/// Writes to many documents in large commits, with several in flight. Each commit is atomic, but the whole work is not.
package struct BulkWriter {
  /// The writes of one document, applied atomically.
  package struct Unit: Sendable {
    var key: DocumentKey
    var mutations: [Mutation]
    /// The approximate size of the fields in bytes.
    var bytes = 0
    /// The deletion of the document's original in another database, committed there after these mutations are written.
    var removal: Mutation?
  }

  package struct Outcome: Sendable {
    package var written = 0
    /// Documents whose state does not meet the preconditions of their writes, with the status. Nothing was written to
    /// them.
    package var skipped: [(key: DocumentKey, status: RPCStatus)] = []

    package init(written: Int = 0, skipped: [(key: DocumentKey, status: RPCStatus)] = []) {
      (self.written, self.skipped) = (written, skipped)
    }

    package mutating func add(_ other: Outcome) {
      written += other.written
      skipped += other.skipped
    }
  }

  /// The limit of writes in one commit (PROTOCOL §3.10).
  private static let writeLimit = 500
  /// The byte limit of one commit; the protocol allows ten megabytes.
  private static let byteLimit = 4 << 20
  private static let maximumCommits = 4

  package let datastore: any Datastore
  /// Whether a write can safely be applied twice.
  package let isRepeatable: Bool
  /// The backend that commits `Unit.removal`; `nil` for none.
  package var origin: (any Datastore)?
  var retries = CommitRetries()

  /// - Parameters:
  ///   - source: calls its argument with each unit to write. Each document occurs in at most one unit.
  ///   - progress: called after each commit with the count of written documents; an error that it throws ends the work.
  /// - Throws: `Interruption` with the outcome so far, for a failure that does not concern individual documents.
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

  /// The reason why the work ended early, with the outcome so far.
  package struct Interruption: Error {
    package var cause: any Error
    package var done: Outcome

    /// - Parameters:
    ///   - verb: the participle of the work, such as `updated`.
    ///   - advice: the way to continue; `nil` for none.
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

  /// Commits all units together. If a document's state fails a precondition, commits the halves separately.
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

  /// Commits the halves of units that failed because of one document.
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
  /// Whether the status reports a document whose state does not meet the write's precondition.
  fileprivate var isAboutState: Bool {
    code == .notFound || code == .alreadyExists || code == .failedPrecondition
  }
}

extension RPCStatus {
  /// Whether the server would reject the same document again, but could accept others.
  fileprivate var isAboutDocuments: Bool { code == .invalidArgument || code == .outOfRange }
}

/// Commits with retries where they can help.
struct CommitRetries: Sendable {
  private static let attempts = 6
  var clock: any Clock<Duration> = ContinuousClock()

  /// Commits writes that are safe to repeat, unless the documents themselves are rejected.
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

  /// - Parameter isRepeatable: whether the writes can be applied twice, so that a write with a lost reply is sent
  ///   again.
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
