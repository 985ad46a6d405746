// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel

/// A client that watchers can observe: the engine of this process, or a proxy's view of a client of any SDK.
package protocol InspectedClient: Sendable {
  /// The clock for the limit of ten status reports per second.
  var clock: any Clock<Duration> { get }
  /// The problem of the client's storage, which is reported to each new watcher; `nil` for none.
  var storageNotice: StorageNotice? { get }
  /// The event with the faults between the client and its backend.
  var faultState: ClientEvent { get }
  /// Yields after each change of `faultState`.
  func faultChanges() -> AsyncStream<Void>
  /// The present listeners, ascending by number. Runs on the caller's executor, so that a greeting needs no thread
  /// switch.
  nonisolated(nonsending) func listenerStates() async -> [ListenerState]
  /// The status now and after each change.
  /// - Parameter queueEnds: the maximum number of writes that the status lists from each end of the queue.
  func status(queueEnds: Int) -> AsyncStream<ClientStatus>
  /// The events from now on, beginning with the present listeners.
  /// - Parameter wake: called when the first event waits for `take`, and again only after a `take`. It must return
  ///   immediately.
  func news(wake: @escaping @Sendable () -> Void) -> any InspectedEvents
  /// Performs a request.
  /// - Returns: the reply event; `nil` for a request to change something, because the status reports the result. Also
  ///   `nil` for a collection that is too large to count.
  /// - Throws: the reason why the request is refused.
  nonisolated(nonsending) func answer(_ request: ClientRequest) async throws(RPCStatus) -> ClientEvent?
}

/// The bounded queue of a client's events. The client never waits for the queue's reader.
package protocol InspectedEvents: AnyObject, Sendable {
  /// Removes and returns the waiting events, and the number of snapshots dropped since the last call.
  func take() -> (items: [InspectedItem], missed: Int)
  /// While set, snapshots are counted but not stored.
  func setCounting(_ isCounting: Bool)
  /// Ends the queue, so that it costs the client nothing.
  func end()
}

package enum InspectedItem: Sendable {
  case event(ClientEvent)
  /// A snapshot. The closure creates it, and is only called if there is time to report the snapshot.
  case snapshot(@Sendable () -> ListenerSnapshot)
}

extension ListenerSnapshot {
  /// Removes and counts the changes that exceed the limits of one report to a watcher.
  /// - Parameter total: the total number of changes, if `changes` already contains only the first ones.
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
