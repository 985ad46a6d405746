// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel

/// A client that watchers such as `hearth attach` can observe. It is either a client of this process, or a proxy's view
/// of a client of any SDK.
package protocol InspectedClient: Sendable {
  /// The clock that limits status reports to ten per second.
  var clock: any Clock<Duration> { get }
  /// The storage problem that each new watcher is notified of; `nil` if there is none.
  var storageNotice: StorageNotice? { get }
  /// An event that lists the faults currently injected between the client and its backend.
  var faultState: ClientEvent { get }
  /// Yields after each change of `faultState`.
  func faultChanges() -> AsyncStream<Void>
  /// The current listeners, in ascending order of their numbers. Runs on the caller's executor, so that greeting a
  /// watcher needs no thread switch.
  nonisolated(nonsending) func listenerStates() async -> [ListenerState]
  /// Yields the status now and after each change.
  /// - Parameter queueEnds: the maximum number of writes that the status lists from each end of the queue.
  func status(queueEnds: Int) -> AsyncStream<ClientStatus>
  /// The events from now on, beginning with one for each current listener.
  /// - Parameter wake: called when the first event is ready for `take`. It is not called again until `take` has removed
  ///   the events. It must return immediately.
  func news(wake: @escaping @Sendable () -> Void) -> any InspectedEvents
  /// Performs a request.
  /// - Returns: the reply event. `nil` if the request changes something, because the status then reports the result.
  ///   Also `nil` if a collection is too large to count.
  /// - Throws: the reason why the client refuses the request.
  nonisolated(nonsending) func answer(_ request: ClientRequest) async throws(RPCStatus) -> ClientEvent?
}

/// The bounded queue of a client's events. The client never waits for the queue's reader.
package protocol InspectedEvents: AnyObject, Sendable {
  /// Removes and returns the waiting events, and the number of snapshots dropped since the last call.
  func take() -> (items: [InspectedItem], missed: Int)
  /// Sets whether snapshots are only counted, not stored.
  func setCounting(_ isCounting: Bool)
  /// Ends the queue, so that it has no further cost for the client.
  func end()
}

package enum InspectedItem: Sendable {
  case event(ClientEvent)
  /// The closure creates the snapshot. It is called only if there is time to report the snapshot.
  case snapshot(@Sendable () -> ListenerSnapshot)
}

extension ListenerSnapshot {
  /// Removes the changes that exceed the size limits of one reported snapshot, and stores the number of removed
  /// changes.
  /// - Parameter total: the total number of changes, if `changes` already contains only the first ones; otherwise
  ///   `nil`.
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
