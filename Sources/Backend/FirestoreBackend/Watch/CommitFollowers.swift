// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension LocalBackend {
  /// The minimum time between two notifications of one stream; commits in between are combined.
  package static let followPace = Duration.milliseconds(30)

  /// Delivers notifications about the commits to a database until canceled. The first notification states that
  /// everything may have changed.
  /// - Parameters:
  ///   - clock: the clock for `followPace`.
  ///   - deliver: receives a notification. Changes are collected until it returns.
  /// - Returns: the stream's final status.
  /// - Throws: the error that `deliver` threw.
  package nonisolated func followCommits<Failure: Error>(
    in database: DatabaseID, clock: any Clock<Duration> = ContinuousClock(),
    deliver: @Sendable (CommitUpdate) async throws(Failure) -> Void
  ) async throws(Failure) -> RPCStatus {
    let (id, signals) = await openFollower(in: database)
    do throws(Failure) {
      for await _ in signals {
        guard let news = await takeNews(of: id) else { continue }
        try await deliver(news)
        // Cancellation ends the stream of signals.
        try? await clock.sleep(for: Self.followPace)
      }
    } catch {
      await closeFollower(id)
      throw error
    }
    return await closeFollower(id) ?? RPCStatus(.cancelled, "Following of commits was cancelled.")
  }

  private func openFollower(in database: DatabaseID) -> (id: CommitFollowers.ID, signals: AsyncStream<Void>) {
    followers.open(in: database)
  }

  private func takeNews(of id: CommitFollowers.ID) -> CommitUpdate? { followers.take(from: id) }

  @discardableResult
  private func closeFollower(_ id: CommitFollowers.ID) -> RPCStatus? { followers.close(id) }
}

/// The streams that follow commits, each with its undelivered notifications.
struct CommitFollowers: Sendable {
  struct ID: Hashable, Sendable { fileprivate let number: Int }

  private struct Follower {
    let database: DatabaseID
    let signal: AsyncStream<Void>.Continuation
    var notices = CollectionNotices(isEverything: true)
    /// The status that ended the stream; `nil` while it is open.
    var end: RPCStatus?
  }

  private var followers: [ID: Follower] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { followers.isEmpty }

  /// Adds a stream, whose first notification is available immediately.
  /// - Returns: the stream's id, and a signal after which `take` has a notification; at most one signal is pending.
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

  /// - Returns: `nil` without a new notification.
  mutating func take(from id: ID) -> CommitUpdate? { followers[id]?.notices.take() }

  /// Ends every stream with a status.
  mutating func end(_ status: RPCStatus) {
    for id in followers.keys {
      followers[id]?.end = status
      followers[id]?.signal.finish()
    }
  }

  /// - Returns: the stream's final status; `nil` if its follower canceled it.
  mutating func close(_ id: ID) -> RPCStatus? {
    let follower = followers.removeValue(forKey: id)
    follower?.signal.finish()
    return follower?.end
  }
}

/// The changed collections that a follower has not received yet. A collection is listed once, even after several
/// commits.
struct CollectionNotices: Sendable {
  /// The maximum number of collections listed. Beyond it, the notification states that everything may have changed.
  static let most = 1_000

  private var notices: [ResourcePath: CollectionNotice] = [:]
  private var isEverything: Bool

  /// - Parameter isEverything: whether the first notification states that everything may have changed.
  init(isEverything: Bool = false) { self.isEverything = isEverything }

  mutating func note(_ transition: DocumentTransition) {
    if isEverything { return }
    let path = transition.key.collection
    guard notices.count < Self.most || notices[path] != nil else { return noteEverything() }
    let (was, isNow) = (transition.before?.exists ?? false, transition.after.exists)
    if was, isNow { notices[path, default: CollectionNotice(path)].changed += 1 }
    if !was, isNow { notices[path, default: CollectionNotice(path)].created += 1 }
    if was, !isNow { notices[path, default: CollectionNotice(path)].deleted += 1 }
  }

  mutating func noteEverything() {
    isEverything = true
    notices = [:]
  }

  /// - Returns: `nil` without a new notification.
  mutating func take() -> CommitUpdate? {
    defer { (notices, isEverything) = ([:], false) }
    if isEverything { return .everything }
    return notices.isEmpty ? nil : .collections(notices.values.sorted { $0.collection < $1.collection })
  }
}
