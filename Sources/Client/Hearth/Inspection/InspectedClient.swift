// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel

/// A client that watchers can see: the engine of this process, or what a proxy knows of a client of any SDK.
package protocol InspectedClient: Sendable {
  /// The clock by which statuses are reported at most ten times a second.
  var clock: any Clock<Duration> { get }
  /// The problem of the client's storage, which each new watcher is told; `nil` for none.
  var storageNotice: StorageNotice? { get }
  /// The event with the faults between the client and its backend.
  var faultState: ClientEvent { get }
  /// Yields after each change of `faultState`.
  func faultChanges() -> AsyncStream<Void>
  /// The present listeners, ascending by number. Runs where the caller runs, so that a greeting waits for no thread.
  nonisolated(nonsending) func listenerStates() async -> [ListenerState]
  /// The status now and after each change.
  /// - Parameter queueEnds: the number of writes at each end of the queue that the status lists.
  func status(queueEnds: Int) -> AsyncStream<ClientStatus>
  /// The news from now on, beginning with the present listeners.
  /// - Parameter wake: called once when there is something to `take`, and again only after that. Returns immediately.
  func news(wake: @escaping @Sendable () -> Void) -> any InspectedEvents
  /// Performs a request.
  /// - Returns: the reply event; `nil` for a change, which the status reports, and for a collection that is too large
  ///   to count.
  /// - Throws: the reason why the request is refused.
  nonisolated(nonsending) func answer(_ request: ClientRequest) async throws(RPCStatus) -> ClientEvent?
}

/// The bounded queue of a client's news. The client never waits for its reader.
package protocol InspectedEvents: AnyObject, Sendable {
  /// Removes and returns the waiting news, and the number of dropped snapshots since the last call.
  func take() -> (items: [InspectedItem], missed: Int)
  /// While set, snapshots are counted but not stored.
  func setCounting(_ isCounting: Bool)
  /// Ends the queue, so that it costs the client nothing.
  func end()
}

package enum InspectedItem: Sendable {
  case event(ClientEvent)
  /// A snapshot, which is made only if there is time to report it.
  case snapshot(@Sendable () -> ListenerSnapshot)
}

extension ListenerSnapshot {
  /// Removes the changes beyond those that one report to a watcher has room for, and counts them.
  /// - Parameter total: the number of changes, if `changes` has only the first ones.
  package mutating func keepFirstChanges(of total: Int? = nil) {
    let total = total ?? changes.count
    var bytes = 0
    changes = Array(
      changes.prefix(Inspection.mostChanges).prefix { change in
        bytes += [change.document, change.previous].reduce(0) { $0 + ($1?.data?.encoded.bytes.count ?? 0) }
        return bytes <= Inspection.mostBytes
      })
    omitted = total > changes.count ? total - changes.count : nil
  }
}
