// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// Validation of requests from a watcher, such as `hearth attach`. The watcher may be another version or another
/// program, so its requests are checked like the program's own calls. The checks also reject numbers that would
/// overflow and trap.
extension ClientRequest {
  /// The maximum message delay that a watcher may set.
  private static let longestDelay = Duration.seconds(3600)
  private static let mostBytes = 1_000_000_000

  func check() throws(RPCStatus) {
    switch self {
    case .openWindow(_, let query), .ask(_, let query), .explain(let query), .preview(let query):
      try Self.check(query)
    case .locate(_, let query, let offset):
      try Self.check(query)
      guard (0..<FirestoreQuery.Query.maximumLimit).contains(offset) else {
        throw Self.refusal("Offset \(offset) is out of range.")
      }
    case .count(let path): try Self.check(FirestoreQuery.Query(path: path))
    case .listCollections(let parent): if !parent.isRoot { try Self.check(parent) }
    case .openDetail(let key): try Self.check(key.path)
    case .setFaults(let settings):
      let delays =
        [settings.latency, settings.jitter, settings.flap ?? .zero]
        + settings.lanes.values.flatMap { [$0.latency ?? .zero, $0.jitter ?? .zero] }
      guard delays.allSatisfy({ ($0 >= .zero) && ($0 <= Self.longestDelay) }) else {
        throw Self.refusal("A delay must be from 0 to 1 hour.")
      }
      for share in [settings.lostAcknowledgements, settings.lostRequests] where !(0...100).contains(share) {
        throw Self.refusal("\(share) is not a percentage.")
      }
      let rates = [settings.bandwidth, settings.readingRate] + settings.lanes.values.map(\.bandwidth)
      for case let rate? in rates where !(1...Self.mostBytes).contains(rate) {
        throw Self.refusal("A bandwidth must be from 1 to \(Self.mostBytes) bytes a second.")
      }
      // A network that changes state more often than every 1 ms is the same as no network.
      if let flap = settings.flap, flap < .milliseconds(1) {
        throw Self.refusal("The interval of a flapping network must be at least 1 ms.")
      }
    default: break
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
