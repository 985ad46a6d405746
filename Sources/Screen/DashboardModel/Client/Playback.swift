// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The speed and state of a replay.
package struct Playback: Sendable {
  package enum Speed: Hashable, Sendable {
    /// A multiple of the recorded speed.
    case times(Double)
    /// The speed that the screen can show at most.
    case max

    static let ladder: [Speed] = [.times(0.25), .times(0.5)] + [1, 2, 5, 10, 50, 200].map { .times($0) } + [.max]

    package var text: String {
      switch self {
      case .times(let factor): "x" + (factor == factor.rounded() ? "\(Int(factor))" : "\(factor)")
      case .max: "max"
      }
    }
  }

  /// The number of actions that are played at once at the highest speed: some frames' worth.
  package static let batch = 200

  package var speed: Speed
  package private(set) var isPlaying: Bool
  /// A moment of the present, and the recorded moment that was shown then.
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

  /// The recorded moment that is due now; `nil` for as much as possible.
  package func target(at now: Timestamp) -> Timestamp? {
    guard case .times(let factor) = speed, let anchor else { return nil }
    let passed = Double(Swift.max(0, now.microseconds &- anchor.now.microseconds)) * factor
    return Timestamp(microseconds: anchor.shown.microseconds &+ Int64(Swift.min(passed, 1e15)))
  }

  /// The time at which a recorded moment is due.
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
