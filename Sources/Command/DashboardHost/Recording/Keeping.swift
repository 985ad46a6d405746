// SPDX-License-Identifier: Apache-2.0
package import Dashboard
package import DashboardModel

/// The files that keep a session.
package struct Keeping: Sendable {
  var recording: RecordingRequest?
  var cast: String?
  var replaces: Bool

  package init(recording: RecordingRequest? = nil, cast: String? = nil, replaces: Bool = false) {
    (self.recording, self.cast, self.replaces) = (recording, cast, replaces)
  }
}

/// A recorded session, and the way to replay it.
package struct ReplayRequest: Sendable {
  package var recording: Recording
  package var playback: Playback
  /// The place where the replay begins; `nil` for the first moment.
  package var place: TimelinePlace?

  package init(recording: Recording, playback: Playback, place: TimelinePlace? = nil) {
    (self.recording, self.playback, self.place) = (recording, playback, place)
  }

  /// - Parameter viewer: the state whose size, theme and keys the screen has.
  package func session(for viewer: DashboardState) -> DashboardSession {
    var session = DashboardSession(
      replaying: recording.header.initialState, recording.actions, viewer: viewer, playback, at: viewer.now)
    if let place { session.go(to: place) }
    return session
  }
}
