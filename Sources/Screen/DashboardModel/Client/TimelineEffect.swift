// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

/// A request to show another time of the session. Performed by `DashboardSession`.
package enum TimelineEffect: Equatable, Sendable {
  case earlier, later
  /// Show the state after the previous snapshot of the listener, or after its next snapshot.
  case earlierSnapshot(ListenerTag)
  case laterSnapshot(ListenerTag)
  case seek(TimelinePlace)
  /// Return to the present.
  case leave
  case togglePlaying, faster, slower
}

/// Starts or ends a recording of the session. The program performs this effect, because it has access to files.
package enum RecordingEffect: Equatable, Sendable {
  case start(String)
  case stop
  case startCast(String)
  case stopCast
  /// Add a named mark to the recording of the screen.
  case mark(String)
  /// Write the screen, or its last seconds, to a file. The values of the fields in `without` are omitted.
  case shot(String, without: String?)
}

/// A position in the session, as typed in commands.
package enum TimelinePlace: Equatable, Sendable {
  case start, end
  /// A time of day in milliseconds since midnight in the session's time zone. This is the last millisecond that the
  /// typed time includes.
  case timeOfDay(milliseconds: Int)
  /// A count of seconds before the time that is shown.
  case ago(seconds: Int)
  /// An event, counted from 1.
  case event(Int)
  /// A time in the session.
  case moment(Timestamp)

  /// Reads `12:04:16`, `12:04`, `12:04:16.250`, `-30s`, `-5m`, `42`, `start` and `end`.
  /// - Returns: `nil` for any other text.
  package init?(_ text: String) {
    switch text {
    case "start": self = .start
    case "end": self = .end
    default:
      if let number = Int(text), number > 0 {
        self = .event(number)
      } else if text.hasPrefix("-") {
        guard let unit = text.last, let factor = ["s": 1, "m": 60, "h": 3600][unit],
          let number = Int(text.dropFirst().dropLast()), (1...1_000_000).contains(number)
        else { return nil }
        self = .ago(seconds: number * factor)
      } else if let milliseconds = Self.timeOfDay(text) {
        self = .timeOfDay(milliseconds: milliseconds)
      } else {
        return nil
      }
    }
  }

  private static func timeOfDay(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hour = number(parts[0], below: 24),
      let minute = number(parts[1], below: 60)
    else { return nil }
    let start = (hour * 60 + minute) * 60_000
    guard parts.count == 3 else { return start + 59_999 }
    let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
    guard let second = number(seconds[0], below: 60) else { return nil }
    if seconds.count == 1 { return start + second * 1000 + 999 }
    guard seconds.count == 2, (1...3).contains(seconds[1].count), let fraction = Int(seconds[1]), fraction >= 0 else {
      return nil
    }
    let scale = [1: 100, 2: 10, 3: 1][seconds[1].count] ?? 1
    return start + second * 1000 + fraction * scale + scale - 1
  }

  private static func number(_ text: Substring, below limit: Int) -> Int? {
    guard (1...2).contains(text.count), text.allSatisfy(\.isNumber), let number = Int(text), number < limit else {
      return nil
    }
    return number
  }
}

extension StringProtocol {
  /// The text without blanks at the ends.
  package var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

/// The speed and state of a replay.
package struct Playback: Sendable {
  package enum Speed: Hashable, Sendable {
    /// A multiple of the recorded speed.
    case times(Double)
    /// The highest speed at which the screen can draw.
    case max

    static let ladder: [Speed] = [.times(0.25), .times(0.5)] + [1, 2, 5, 10, 50, 200].map { .times($0) } + [.max]

    package var text: String {
      switch self {
      case .times(let factor): "x" + (factor == factor.rounded() ? "\(Int(factor))" : "\(factor)")
      case .max: "max"
      }
    }
  }

  /// The count of actions that are replayed together at the maximum speed.
  package static let batch = 200

  package var speed: Speed
  package private(set) var isPlaying: Bool
  /// A time on the viewer's clock, and the recorded time that was shown then.
  private var anchor: (now: Timestamp, shown: Timestamp)?

  package init(speed: Speed, isPlaying: Bool) {
    self.speed = speed
    self.isPlaying = isPlaying
  }

  package mutating func play(from shown: Timestamp, at now: Timestamp) {
    isPlaying = true
    anchor = (now, shown)
  }

  package mutating func stop() { isPlaying = false }

  package mutating func change(by step: Int, shown: Timestamp, at now: Timestamp) {
    let ladder = Speed.ladder
    let index = ladder.firstIndex { $0.rank >= speed.rank } ?? 0
    speed = ladder[Swift.max(0, Swift.min(ladder.count - 1, index + step))]
    if isPlaying { anchor = (now, shown) }
  }

  /// The recorded time that must be shown now; `nil` at the maximum speed.
  package func target(at now: Timestamp) -> Timestamp? {
    guard case .times(let factor) = speed, let anchor else { return nil }
    let passed = Double(Swift.max(0, now.microseconds &- anchor.now.microseconds)) * factor
    return Timestamp(microseconds: anchor.shown.microseconds &+ Int64(Swift.min(passed, 1e15)))
  }

  /// The time on the viewer's clock at which a recorded time must be shown.
  package func due(of moment: Timestamp, after now: Timestamp) -> Timestamp {
    guard case .times(let factor) = speed, let anchor else { return now.nextMillisecond }
    let left = Double(Swift.max(0, moment.microseconds &- anchor.shown.microseconds)) / factor
    return Swift.max(
      now.nextMillisecond, Timestamp(microseconds: anchor.now.microseconds &+ Int64(Swift.min(left, 1e15)) &+ 1))
  }
}

extension Playback.Speed {
  fileprivate var rank: Double {
    switch self {
    case .times(let factor): factor
    case .max: .infinity
    }
  }
}
