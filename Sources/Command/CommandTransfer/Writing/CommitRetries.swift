// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

extension RPCStatus {
  /// The server would refuse the same document again, and might take others.
  fileprivate var isAboutDocuments: Bool { code == .invalidArgument || code == .outOfRange }
}

/// Commits that are tried again where that may help.
struct CommitRetries: Sendable {
  private static let attempts = 6
  var clock: any Clock<Duration> = ContinuousClock()

  /// Commits writes that can be repeated without harm, unless the documents themselves are refused.
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

  /// - Parameter isRepeatable: whether the writes may be applied twice, so that one whose answer was lost is sent again.
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
