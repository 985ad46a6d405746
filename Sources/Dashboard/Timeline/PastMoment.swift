// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TerminalCanvas

/// That the screen does not show the present, and what it shows in its place.
package struct PastMoment: Hashable, Sendable {
  package struct Replay: Hashable, Sendable {
    /// How many of the recorded events are shown, of how many.
    package var position: Int
    package var count: Int
    package var isPlaying: Bool
    /// `x2`, `max`.
    package var speed: String
    package var isAtEnd: Bool
  }

  /// The moment that is shown.
  package var time: Timestamp
  /// Of this session: how far back it is.
  package var secondsBehind: Int64 = 0
  /// Of this session: what the client has told since.
  package var newEvents = 0
  /// Of a recorded session.
  package var replay: Replay?

  package var isReplay: Bool { replay != nil }

  /// Why nothing is written, and the way out.
  func refusal(_ state: DashboardState) -> String {
    if isReplay { return "this is a replay: no client is open, nothing is written" }
    return "you look at \(clock(state)); esc returns"
  }

  func clock(_ state: DashboardState) -> String { TimeText.clock(time, offset: state.configuration.utcOffset) }

  /// What the header says, longest first.
  func badges(_ state: DashboardState) -> [String] {
    let clock = clock(state)
    let glyphs = state.configuration.glyphs
    if let replay {
      let shown = "\(grouped(replay.position)) of \(grouped(replay.count))"
      let way = replay.isAtEnd ? "end" : replay.isPlaying ? replay.speed : "\(replay.speed) stopped"
      return [
        "[REPLAY \(clock) \(glyphs.bullet) \(shown) \(glyphs.bullet) \(way)]", "[REPLAY \(clock) \(way)]", "[REPLAY]",
      ]
    }
    let behind = TimeText.elapsed(seconds: secondsBehind)
    let new = newEvents > 0 ? " \(glyphs.bullet) +\(grouped(newEvents)) new" : ""
    return ["[THEN \(clock) \(glyphs.bullet) \(behind) ago\(new)]", "[THEN \(clock)]", "[THEN]"]
  }
}
