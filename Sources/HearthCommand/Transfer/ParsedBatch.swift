// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// A document of an input file that was not imported.
struct Rejection: Sendable {
  enum Reason: Error, Sendable {
    case unreadable(JSONError)
    case refused(RPCStatus, at: InputPosition)
  }

  let record: InputRecord
  let reason: Reason
}

/// Documents on their way from text to the server.
struct ParsedBatch: Sendable {
  private(set) var records: [InputRecord] = []
  private(set) var mutations: [Mutation] = []
  var rejections: [Rejection] = []
  private(set) var recordCount: Int
  private(set) var end: InputPosition

  init(_ batch: ImportInput.Batch, _ rules: ImportRules) {
    recordCount = batch.records.count
    end = batch.end
    for record in batch.records {
      do throws(JSONError) {
        mutations.append(try rules.mutation(for: record))
        records.append(record)
      } catch {
        rejections.append(Rejection(record: record, reason: .unreadable(error)))
      }
    }
  }

  /// Forgets a bad record and all that comes after it.
  mutating func keep(before bad: Rejection) {
    let count = records.prefix { $0.place.offset < bad.record.place.offset }.count
    records.removeLast(records.count - count)
    mutations.removeLast(mutations.count - count)
    rejections = []
    recordCount = count
    end = bad.record.start
  }

  /// - Parameter rejecting: write what can be written if the server refuses single documents; else name the first.
  /// - Returns: what the server refused.
  /// - Throws: `Rejection.Reason`, or `RPCStatus` for what is not about single documents.
  func commit(at datastore: any Datastore, _ retries: CommitRetries, rejecting: Bool) async throws -> [Rejection] {
    guard try await retries.refusal(of: mutations, at: datastore) != nil else { return [] }
    var refused: [Rejection] = []
    for (record, mutation) in zip(records, mutations) {
      guard let status = try await retries.refusal(of: [mutation], at: datastore) else { continue }
      let reason = Rejection.Reason.refused(status, at: record.place)
      guard rejecting else { throw reason }
      refused.append(Rejection(record: record, reason: reason))
    }
    return refused
  }
}

extension RPCStatus {
  /// The server would refuse the same document again, and might take others.
  fileprivate var isAboutDocuments: Bool { code == .invalidArgument || code == .outOfRange }
}

/// Commits that are tried again where that may help; the writes of an import can be repeated without harm.
struct CommitRetries: Sendable {
  private static let attempts = 6
  var clock: any Clock<Duration> = ContinuousClock()

  /// Commits, unless the documents themselves are refused.
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

  private func commit(_ mutations: [Mutation], at datastore: any Datastore) async throws(RPCStatus) {
    var backoff = Backoff()
    var random = SystemRandomNumberGenerator()
    _ = backoff.next(using: &random)
    for _ in 1..<Self.attempts {
      do throws(RPCStatus) {
        _ = try await datastore.commit(mutations)
        return
      } catch {
        switch error.code {
        case .unavailable, .deadlineExceeded, .aborted, .resourceExhausted, .internal: break
        default: throw error
        }
      }
      do {
        try await clock.sleep(for: backoff.next(using: &random))
      } catch {
        throw RPCStatus(.cancelled, "The import was interrupted.")
      }
    }
    _ = try await datastore.commit(mutations)
  }
}
