// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The session band: the whole session, divided into time steps of equal length. Each step has its activity and its
/// important events.
///
/// Steps are added when events occur, and also while the screen counts seconds. Idle time adds no steps. If there are
/// too many steps, pairs of steps are merged into steps of double length.
package struct SessionBand: Sendable {
  /// The important events of a step.
  package struct Marks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let write = Marks(rawValue: 1)
    package static let acknowledged = Marks(rawValue: 2)
    package static let rejected = Marks(rawValue: 4)
    package static let conflict = Marks(rawValue: 8)
    package static let outage = Marks(rawValue: 16)
  }

  package struct Step: Hashable, Sendable {
    package var events = 0
    package var marks: Marks = []

    static func + (one: Step, other: Step) -> Step {
      Step(events: one.events + other.events, marks: one.marks.union(other.marks))
    }
  }

  /// The part of the session that is drawn.
  package struct Shown: Hashable, Sendable {
    package var start: Timestamp
    /// The length of a step in seconds.
    package var length: Int64
    package var steps: [Step]

    /// The time when a step ends.
    package func end(of index: Int) -> Timestamp {
      Timestamp(microseconds: start.advanced(seconds: length &* Int64(index + 1)).microseconds &- 1)
    }

    /// The index of the step that contains a time. For a time outside the session, returns the nearest step.
    package func index(of time: Timestamp) -> Int {
      max(0, min(steps.count - 1, Int((time.seconds &- start.seconds) / max(1, length))))
    }
  }

  private static let mostSteps = 512

  private var start: Int64?
  private var length: Int64 = 1
  private var steps: [Step] = []
  private var isOffline = false
  /// The events of the current second. They become a step when the second is over.
  private var present: (second: Int64, step: Step)?

  package init() {}

  package mutating func note(events: Int = 0, _ marks: Marks = [], at time: Timestamp) {
    let step = Step(events: events, marks: marks)
    if let present, present.second >= time.seconds {
      self.present = (present.second, present.step + step)
      return
    }
    if let present { add(present.step, at: present.second) }
    present = (time.seconds, step)
  }

  package mutating func note(isOffline: Bool, at time: Timestamp) {
    guard isOffline != self.isOffline else { return }
    note(.outage, at: time)
    // Steps up to now still have the previous state.
    if let present { add(present.step, at: present.second) }
    present = nil
    self.isOffline = isOffline
  }

  /// Extends the band to a time although no event occurred, so that its last step is the present.
  package mutating func run(to now: Timestamp) {
    if let present {
      guard present.second < now.seconds else { return }
      add(present.step, at: present.second)
      self.present = nil
    }
    guard start != nil else { return }
    add(Step(marks: isOffline ? .outage : []), at: now.seconds &- 1)
  }

  private mutating func add(_ step: Step, at second: Int64) {
    let first = start ?? second
    start = first
    var index = max(steps.count - 1, Int(clamping: (second &- first) / length))
    while index >= Self.mostSteps {
      halve()
      index = max(steps.count - 1, Int(clamping: (second &- first) / length))
    }
    while steps.count <= index { steps.append(Step(marks: isOffline ? .outage : [])) }
    steps[index] = steps[index] + step
  }

  private mutating func halve() {
    length *= 2
    steps = Self.merged(steps, by: 2)
  }

  private static func merged(_ steps: [Step], by factor: Int) -> [Step] {
    guard factor > 1 else { return steps }
    return stride(from: 0, to: steps.count, by: factor).map { index in
      steps[index..<min(index + factor, steps.count)].reduce(Step()) { $0 + $1 }
    }
  }

  /// The session up to the last whole second, as steps in a given count of columns; `nil` before the first event.
  package func shown(columns: Int, at now: Timestamp) -> Shown? {
    var band = self
    if let present, present.second < now.seconds { band.add(present.step, at: present.second) }
    guard columns > 0, let start = band.start, !band.steps.isEmpty else { return nil }
    // Powers of two keep the composition of drawn steps stable.
    var factor = 1
    while (band.steps.count + factor - 1) / factor > columns { factor *= 2 }
    return Shown(
      start: Timestamp(seconds: start), length: band.length * Int64(factor), steps: Self.merged(band.steps, by: factor))
  }

  /// Shifts all times after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    start = start.map { moved(Timestamp(seconds: $0)).seconds }
    present = present.map { (moved(Timestamp(seconds: $0.second)).seconds, $0.step) }
  }
}
