// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import FirestoreModel

/// A collection's document count. This is the server's count with the time when it was last correct, or the cache's
/// count while the server is unreachable.
package struct CollectionCount: Hashable, Sendable {
  package struct Known: Hashable, Sendable {
    package let number: Int
    package fileprivate(set) var time: Timestamp
  }

  /// The server's last count.
  package private(set) var known: Known?
  /// The count of cached documents while the server was unreachable.
  package private(set) var cached: Int?

  package init() {}

  /// The document count to show now.
  package var number: Int? { cached ?? known?.number }

  package mutating func take(_ number: Int, at time: Timestamp) {
    known = Known(number: max(0, number), time: time)
    cached = nil
  }

  /// Stores the cache's count. The server's count remains stored.
  package mutating func takeCached(_ number: Int) { cached = max(0, number) }

  package mutating func forgetCached() { cached = nil }

  /// Records that the server's count is correct at a time.
  package mutating func confirm(at time: Timestamp) {
    guard let known, known.time < time else { return }
    self.known?.time = time
  }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    if let time = known?.time { known?.time = moved(time) }
  }
}

/// The age of a document count as text. The steps are 10 seconds, minutes and hours, so that an idle screen rarely
/// changes. Ages are rounded down.
package enum CountAge {
  /// The age as text: `<0:10`, `0:40`, `12:00`, `3 h`, `2 d`.
  package static func text(of time: Timestamp, at now: Timestamp) -> String {
    let seconds = now.wholeSeconds(since: time)
    switch seconds {
    case ..<10: return "<0:10"
    case ..<3600: return TimeText.elapsed(seconds: seconds - seconds % step(seconds))
    case ..<86_400: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }

  /// The next time when the text changes.
  package static func nextChange(of time: Timestamp, after now: Timestamp) -> Timestamp {
    let seconds = now.wholeSeconds(since: time)
    return time.advanced(seconds: seconds - seconds % step(seconds) &+ step(seconds))
  }

  private static func step(_ seconds: Int64) -> Int64 {
    switch seconds {
    case ..<60: 10
    case ..<3600: 60
    case ..<86_400: 3600
    default: 86_400
    }
  }
}

/// The requests that are repeated after commits. Each request is sent immediately, and then at most ten times a second,
/// even if there are more commits.
package struct Renewals: Sendable {
  package enum Question: Hashable, Sendable {
    case count(ResourcePath)
    case collections(below: ResourcePath)
    case missing(in: ResourcePath)

    package var effect: Effect {
      switch self {
      case .count(let path): .client(.count(path))
      case .collections(let parent): .client(.listCollections(below: parent))
      case .missing(let path): .client(.listMissing(in: path))
      }
    }
  }

  private static let pace: Int64 = 100_000

  /// The earliest times at which requests may be repeated.
  private var asked: [Question: Timestamp] = [:]
  private var waiting: Set<Question> = []

  package init() {}

  /// The time when the next request is due.
  package var next: Timestamp? { waiting.lazy.compactMap { asked[$0] }.min() }

  /// Adds requests. Each is sent now, or as soon as it may be repeated.
  package mutating func ask(_ questions: some Sequence<Question>, at now: Timestamp) -> [Effect] {
    asked = asked.filter { $1 > now || waiting.contains($0) }
    var effects: [Effect] = []
    for question in questions where waiting.insert(question).inserted {
      if asked[question] == nil { effects.append(ask(question, at: now)) }
    }
    return effects
  }

  package mutating func takeDue(at now: Timestamp) -> [Effect] {
    let due = waiting.filter { asked[$0].map { $0 <= now } ?? true }
    return due.map { ask($0, at: now) }.sorted { "\($0)" < "\($1)" }
  }

  private mutating func ask(_ question: Question, at now: Timestamp) -> Effect {
    waiting.remove(question)
    asked[question] = Timestamp(microseconds: now.microseconds &+ Self.pace)
    return question.effect
  }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) { asked = asked.mapValues(moved) }
}
