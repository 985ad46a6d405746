// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// What befalls a network as a whole.
enum NetworkFault: Sendable, CaseIterable {
  /// Nothing can be opened, and what was open ends.
  case cut
  /// Nothing gets through, and nobody notices.
  case mute
  case loseRequest, loseAnswer
  case heal
}

/// One step of a random run. An operation that does not apply when its turn comes does nothing, so that any part of a
/// trace is a trace again.
enum Operation: Sendable {
  case write(Int, [Mutation])
  /// Cancels the n-th pending write.
  case cancelWrite(Int, Int)
  case waitForPendingWrites(Int)
  /// Listens to the n-th of `ModelQueries.all`.
  case listen(Int, query: Int, ListenerOptions)
  /// Ends the n-th listener.
  case stopListening(Int, Int)
  case enableNetwork(Int)
  case disableNetwork(Int)
  case retryNow(Int)
  /// Ends the client and begins it anew on its storage. A killed one leaves its files as they are at that moment.
  case restart(Int, isKilled: Bool)
  /// Signs the n-th of `ModelClient.users` in.
  case changeUser(Int, Int)

  /// Configures these of `ModelQueries.indexes`.
  case setIndexes(Int, [Int])
  case deleteAllIndexes(Int)
  case createIndexesAutomatically(Int, Bool)
  case loadBundle(Int, BundleChoice)

  /// The stream that is to be opened opens.
  case open(Int, StreamKind)
  /// The stream that is to be opened cannot be, or the open one breaks: what is on its way in both directions is lost.
  case breakStream(Int, StreamKind, StatusCode)
  /// Passes requests of the client on: to the backend for watches, onto the wire for writes.
  case send(Int, StreamKind, count: Int)
  /// The backend commits the oldest write on the wire; the answer is on its way from here on.
  case serve(Int)
  /// The client receives messages.
  case deliver(Int, StreamKind, count: Int)
  /// A message of a stream that was given up arrives.
  case deliverStale(Int)
  /// The backend refuses the next new write it is asked for, for no reason of its own.
  case rejectNextWrite(Int, StatusCode)
  /// The backend ends the n-th target it watches.
  case refuseTarget(Int, Int)

  case fire(Int, SyncTimer)
  case failStore(Int, StoreAction)
  case healStore(Int)
  case collectGarbage(Int, percentile: Int)

  /// Somebody else writes at the backend.
  case backendWrite([Mutation])
  case clearBackend
  case heartbeat
  case advanceClock(milliseconds: Int)

  /// Something befalls the network of an engine.
  case network(Int, NetworkFault)
  /// The timers of an engine that wait long run out.
  case passTime(Int)

  /// All faults end and everything runs until nothing is left to do; then all is compared with the backend.
  case comeToRest

  /// - Returns: `nil` without that many mutations, or if it were the last one.
  func removingMutation(at index: Int) -> Operation? {
    func removed(_ mutations: [Mutation]) -> [Mutation]? {
      guard mutations.count > 1, mutations.indices.contains(index) else { return nil }
      var mutations = mutations
      mutations.remove(at: index)
      return mutations
    }
    switch self {
    case .write(let client, let mutations): return removed(mutations).map { .write(client, $0) }
    case .backendWrite(let mutations): return removed(mutations).map { .backendWrite($0) }
    default: return nil
    }
  }
}
