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
  private static let mostBytes = 1_000_000_000

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
      let delays =
        [settings.latency, settings.jitter, settings.flap ?? .zero]
        + settings.lanes.values.flatMap { [$0.latency ?? .zero, $0.jitter ?? .zero] }
      guard delays.allSatisfy({ ($0 >= .zero) && ($0 <= Self.longestDelay) }) else {
        throw Self.refusal("A delay is at least 0 and at most an hour.")
      }
      for share in [settings.lostAcknowledgements, settings.lostRequests] where !(0...100).contains(share) {
        throw Self.refusal("\(share) is no percentage.")
      }
      let rates = [settings.bandwidth, settings.readingRate] + settings.lanes.values.map(\.bandwidth)
      for case let rate? in rates where !(1...Self.mostBytes).contains(rate) {
        throw Self.refusal("A bandwidth is 1 to \(Self.mostBytes) bytes a second.")
      }
      // A network that comes and goes at every moment is down.
      if let flap = settings.flap, flap < .milliseconds(1) { throw Self.refusal("A network flaps each 1 ms at most.") }
    case .causeFault(let event):
      if let objection = FaultChange.event(event).objectionOfClients { throw Self.refusal(objection) }
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
