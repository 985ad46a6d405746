// SPDX-License-Identifier: Apache-2.0
import FirestoreText

/// The progress of a scenario on the screen. This type has no side effects. The scenario's player reports the events.
package struct ScenarioPlay: Hashable, Sendable {
  package struct Step: Hashable, Sendable {
    /// The line of the step in the scenario's file.
    package var line: Int
    package var text: String

    package init(line: Int, text: String) { (self.line, self.text) = (line, text) }
  }

  package enum Mark: Hashable, Sendable { case done, now, failed, toCome }

  package enum Ending: Hashable, Sendable {
    case passed
    /// The reason for the failure, without the name, the line and the text of the step that failed.
    case failed(String)
  }

  package let name: String
  /// A sentence about the scenario's purpose; empty if it has none.
  package let summary: String
  package let steps: [Step]
  /// The text about where the scenario runs and about its time, simulated or real.
  package let place: String
  /// Whether each step waits for a key.
  package let isStepped: Bool
  /// Whether steps run automatically, each after a pause.
  package private(set) var isPlaying: Bool
  /// The delay before a step runs.
  package private(set) var pace: Duration
  package private(set) var doneCount = 0
  /// The simulated time since the first step.
  package private(set) var elapsed = Duration.zero
  /// The text of the last caption.
  package private(set) var caption = ""
  package private(set) var ending: Ending?
  /// A message about the scenario's file.
  package var notice = ""

  package init(
    name: String, summary: String, steps: [Step], place: String, pace: Duration = .seconds(1), isStepped: Bool = false
  ) {
    (self.name, self.summary, self.steps, self.place) = (name, summary, steps, place)
    (self.pace, self.isStepped, isPlaying) = (pace, isStepped, !isStepped)
  }

  // MARK: Events

  /// Records that the current step is done.
  package mutating func finish(after elapsed: Duration, caption: String? = nil) {
    doneCount = min(doneCount + 1, steps.count)
    self.elapsed = elapsed
    if let caption { self.caption = caption }
  }

  /// - Parameter elapsed: the simulated time at the end; `nil` if it is the time of the last step.
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

  /// Carries out a request of the user.
  /// - Returns: whether to run the next step now.
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

  /// The simulated time: `0.250 s`, `00:01:05`, `3 d 00:00:10`.
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

/// A request of the user about the scenario on the screen.
package enum ScenarioControl: Hashable, Sendable {
  /// Run the next step.
  case next
  /// Pause before the next step, or continue. If each step waits for a key, run one step.
  case toggle
  case faster, slower
  case pace(Duration)
  /// Restart from the first step.
  case again
}

/// A scenario that can be played, by its name.
package struct ScenarioTitle: Hashable, Sendable {
  package var name: String
  /// One sentence about the scenario's purpose.
  package var summary: String

  package init(name: String, summary: String) { (self.name, self.summary) = (name, summary) }
}
