// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreInspection
import FirestoreModel
import FirestoreQuery

/// Checks of a watcher's requests. A watcher may be of another version, or a different program: its requests are
/// checked like those of a program to its own client, so that no number in them reaches arithmetic that ends the
/// program.
extension InspectionRequest {
  /// The longest that a watcher may let each message be late.
  private static let longestDelay = Duration.seconds(3600)

  func check() throws(RPCStatus) {
    switch self {
    case .documents(let query), .explain(let query), .preview(let query): try Self.check(query)
    case .locate(let query, let offset):
      try Self.check(query)
      guard (0..<FirestoreQuery.Query.maximumLimit).contains(offset) else {
        throw Self.refusal("There is no document at \(offset).")
      }
    case .count(let path): try Self.check(FirestoreQuery.Query(path: path))
    case .collections(let parent): if !parent.isRoot { try Self.check(parent) }
    case .layers(let key): try Self.check(key.path)
    case .setFaults(let settings):
      let delays = [settings.latency, settings.jitter]
      guard delays.allSatisfy({ ($0 >= .zero) && ($0 <= Self.longestDelay) }) else {
        throw Self.refusal("A delay is at least 0 and at most an hour.")
      }
      guard (0...100).contains(settings.lostAcknowledgements) else {
        throw Self.refusal("\(settings.lostAcknowledgements) is no percentage.")
      }
    case .setNetwork, .retryNow, .cancelWrite, .resend, .dropRejected, .injectFault, .inside, .survey, .restart: break
    }
  }

  private static func check(_ query: FirestoreQuery.Query) throws(RPCStatus) {
    if !query.path.isRoot { try check(query.path) }
    do throws(QueryError) { try query.validate() } catch { throw refusal(error.message) }
  }

  private static func check(_ path: ResourcePath) throws(RPCStatus) {
    do throws(ModelError) { _ = try ResourcePath(validating: path.text) } catch { throw refusal(error.message) }
  }

  private static func refusal(_ reason: String) -> RPCStatus { RPCStatus(.invalidArgument, reason) }
}
