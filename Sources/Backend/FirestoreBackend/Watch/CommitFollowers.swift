// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The streams that hear of commits, each with the news that it has not taken.
struct CommitFollowers: Sendable {
  struct ID: Hashable, Sendable { fileprivate let number: Int }

  private struct Follower {
    let database: DatabaseID
    let signal: AsyncStream<Void>.Continuation
    var notices = CollectionNotices(isEverything: true)
    /// The reason why there is no further news.
    var end: RPCStatus?
  }

  private var followers: [ID: Follower] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { followers.isEmpty }

  /// Adds a stream, whose first news is there at once.
  /// - Returns: its id, and a signal after which `take` has news; never more than one signal waits.
  mutating func open(in database: DatabaseID) -> (id: ID, signals: AsyncStream<Void>) {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    lastNumber += 1
    let id = ID(number: lastNumber)
    followers[id] = Follower(database: database, signal: signal)
    signal.yield()
    return (id, signals)
  }

  mutating func note(_ transitions: [DocumentTransition], in database: DatabaseID) {
    guard !transitions.isEmpty else { return }
    for id in followers.keys where followers[id]?.database == database {
      for transition in transitions { followers[id]?.notices.note(transition) }
      followers[id]?.signal.yield()
    }
  }

  mutating func noteEverything(in database: DatabaseID) {
    for id in followers.keys where followers[id]?.database == database {
      followers[id]?.notices.noteEverything()
      followers[id]?.signal.yield()
    }
  }

  /// - Returns: `nil` if there is no news since the last.
  mutating func take(from id: ID) -> CommitNews? { followers[id]?.notices.take() }

  /// Ends every stream with a status.
  mutating func end(_ status: RPCStatus) {
    for id in followers.keys {
      followers[id]?.end = status
      followers[id]?.signal.finish()
    }
  }

  /// - Returns: the status with which the stream was ended; `nil` if its follower wants no more.
  mutating func close(_ id: ID) -> RPCStatus? {
    let follower = followers.removeValue(forKey: id)
    follower?.signal.finish()
    return follower?.end
  }
}
