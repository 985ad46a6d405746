// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreProtocol

/// News of the commits of others, as long as the backend tells of them.
extension ClientBridge {
  /// The pauses between attempts to hear of commits again.
  private static let (firstPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(10))

  /// Begins to follow the commits, or ends it: a client that is offline hears nothing.
  func followCommits(_ isWanted: Bool) {
    guard tellsCommits, isWanted != (following != nil) else { return }
    following?.cancel()
    following = nil
    if isWanted {
      following = Task { [weak self, datastore] in await Self.hearCommits(of: datastore) { self?.emit($0) } }
    } else {
      emit(.commitsUnheard("offline"))
    }
  }

  /// Follows the commits until the backend says that it does not tell of them, or until cancelled.
  private static func hearCommits(
    of datastore: any Datastore, emit: @escaping @MainActor @Sendable (ClientEvent) -> Void
  ) async {
    var pause = firstPause
    while !Task.isCancelled {
      let began = ContinuousClock.now
      let failure: RPCStatus
      do throws(RPCStatus) {
        try await datastore.followCommits { news in
          await MainActor.run { if !Task.isCancelled { emit(.committed(news)) } }
        }
        return
      } catch { failure = error }
      if Task.isCancelled { return }
      emit(.commitsUnheard(failure.lineText))
      switch failure.code {
      case .unimplemented, .permissionDenied, .unauthenticated, .invalidArgument, .notFound: return
      default: break
      }
      if ContinuousClock.now - began > longestPause { pause = firstPause }
      // Cancelled, nothing is followed any more.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
  }
}
