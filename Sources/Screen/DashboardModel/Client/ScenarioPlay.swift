// SPDX-License-Identifier: Apache-2.0
import FirestoreText

/// A scenario that is played on the screen, as far as it has come. Pure: its player tells it what happens.
package struct ScenarioPlay: Hashable, Sendable {
  package struct Step: Hashable, Sendable {
    /// The line of the file.
    package var line: Int
    package var text: String

    package init(line: Int, text: String) { (self.line, self.text) = (line, text) }
  }

  package enum Mark: Hashable, Sendable { case done, now, failed, toCome }

  package enum Ending: Hashable, Sendable {
    case passed
    /// The reason, without the name, the line and the text of the step that failed.
    case failed(String)
  }

  package let name: String
  /// The sentence about what it shows; empty without one.
  package let summary: String
  package let steps: [Step]
  /// The world and its time, in words.
  package let place: String
  /// Whether a key does one step at a time.
  package let isStepped: Bool
  /// Whether the steps are done by themselves, each a while after the one before.
  package private(set) var isPlaying: Bool
  /// The time for which a step is shown before it is done.
  package private(set) var pace: Duration
  package private(set) var doneCount = 0
  /// The time of the world since the first step.
  package private(set) var elapsed = Duration.zero
  /// The text of the last caption.
  package private(set) var caption = ""
  package private(set) var ending: Ending?
  /// A message about the file that is played.
  package var notice = ""

  package init(
    name: String, summary: String, steps: [Step], place: String, pace: Duration = .seconds(1), isStepped: Bool = false
  ) {
    (self.name, self.summary, self.steps, self.place) = (name, summary, steps, place)
    (self.pace, self.isStepped, isPlaying) = (pace, isStepped, !isStepped)
  }

  // MARK: News

  /// Notes that a step is done, which was the next one.
  package mutating func finish(after elapsed: Duration, caption: String? = nil) {
    doneCount = min(doneCount + 1, steps.count)
    self.elapsed = elapsed
    if let caption { self.caption = caption }
  }

  /// - Parameter elapsed: the time of the world then; `nil` for that of the last step.
  package mutating func end(_ ending: Ending, after elapsed: Duration? = nil) {
    guard self.ending == nil else { return }
    self.ending = ending
    self.elapsed = elapsed ?? self.elapsed
    isPlaying = false
  }

  package func mark(of step: Int) -> Mark {
    if step < doneCount { return .done }
    guard step == doneCount else { return .toCome }
    switch ending {
    case .failed: return .failed
    case .passed: return .toCome
    case nil: return .now
    }
  }

  // MARK: Pace

  private static let paces = [100, 250, 500, 1_000, 2_000, 5_000, 10_000].map { Duration.milliseconds($0) }

  /// Performs a request of the user.
  /// - Returns: whether the step that waits is to be done now.
  package mutating func perform(_ control: ScenarioControl) -> Bool {
    guard ending == nil else { return false }
    switch control {
    case .next: return true
    case .toggle:
      if isStepped { return true }
      isPlaying.toggle()
    case .faster: pace = Self.paces.last { $0 < pace } ?? min(pace, Self.paces[0])
    case .slower: pace = Self.paces.first { $0 > pace } ?? pace
    case .pace(let wanted):
      pace = wanted
      isPlaying = true
    case .again: break
    }
    return false
  }

  /// The time between two steps: `1 s`, `250 ms`.
  package var paceText: String { DurationText.text(pace) }

  /// The time of the world: `0.250 s`, `00:01:05`, `3 d 00:00:10`.
  package var timeText: String {
    let seconds = Int(elapsed / .seconds(1))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    if seconds < 60 {
      let thousandths = Int(elapsed / .milliseconds(1)) % 1000
      return "\(seconds).\(String("\(1000 + thousandths)".dropFirst())) s"
    }
    let clock = "\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    return seconds < 86_400 ? clock : "\(seconds / 86_400) d \(clock)"
  }
}

/// A request of the user about a scenario that is played.
package enum ScenarioControl: Hashable, Sendable {
  /// Do the step that waits.
  case next
  /// Stop before the next step, or go on; do one where a key does each.
  case toggle
  case faster, slower
  case pace(Duration)
  /// Play it again from its first step.
  case again
}

/// A scenario that can be played, by its name.
package struct ScenarioTitle: Hashable, Sendable {
  package var name: String
  /// One sentence about what it shows.
  package var summary: String

  package init(name: String, summary: String) { (self.name, self.summary) = (name, summary) }
}
