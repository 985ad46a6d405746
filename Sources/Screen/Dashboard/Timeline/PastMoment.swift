// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreModel
import TerminalCanvas

/// The moment that the screen shows in place of the present.
package struct PastMoment: Hashable, Sendable {
  package struct Replay: Hashable, Sendable {
    /// The number of recorded events that are shown, and of all.
    package var position: Int
    package var count: Int
    package var isPlaying: Bool
    /// The speed as text: `x2`, `max`.
    package var speed: String
    package var isAtEnd: Bool
  }

  /// The moment that is shown.
  package var time: Timestamp
  /// The distance from the present, in this session.
  package var secondsBehind: Int64 = 0
  /// The number of the client's events since, in this session.
  package var newEvents = 0
  /// The state of a replay; `nil` for this session.
  package var replay: Replay?

  package var isReplay: Bool { replay != nil }

  /// The reason why no data is written, and the way out.
  func refusal(_ state: DashboardState) -> String {
    if isReplay { return "this is a replay: no client is open, nothing is written" }
    return "you look at \(clock(state)); esc returns"
  }

  func clock(_ state: DashboardState) -> String { TimeText.clock(time, offset: state.configuration.utcOffset) }

  /// The badges for the header, longest first.
  package func badges(_ state: DashboardState) -> [String] {
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
