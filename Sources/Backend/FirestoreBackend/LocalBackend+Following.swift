// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension LocalBackend {
  /// The least time between two news of one stream: commits in between are told together.
  package static let followPace = Duration.milliseconds(30)

  /// Tells of every commit to a database, until cancelled. The first news is that everything may have changed.
  /// - Parameters:
  ///   - clock: the clock of the pace.
  ///   - deliver: takes the news; while it does, further news is gathered.
  /// - Returns: the status with which the news ended.
  /// - Throws: the error that `deliver` threw.
  package nonisolated func followCommits<Failure: Error>(
    in database: DatabaseID, clock: any Clock<Duration> = ContinuousClock(),
    deliver: @Sendable (CommitNews) async throws(Failure) -> Void
  ) async throws(Failure) -> RPCStatus {
    let (id, signals) = await openFollower(in: database)
    do throws(Failure) {
      for await _ in signals {
        guard let news = await takeNews(of: id) else { continue }
        try await deliver(news)
        // Cancelled, the stream of signals ends.
        try? await clock.sleep(for: Self.followPace)
      }
    } catch {
      await closeFollower(id)
      throw error
    }
    return await closeFollower(id) ?? RPCStatus(.cancelled, "The commits are not followed any longer.")
  }

  private func openFollower(in database: DatabaseID) -> (id: CommitFollowers.ID, signals: AsyncStream<Void>) {
    followers.open(in: database)
  }

  private func takeNews(of id: CommitFollowers.ID) -> CommitNews? { followers.take(from: id) }

  @discardableResult
  private func closeFollower(_ id: CommitFollowers.ID) -> RPCStatus? { followers.close(id) }
}
