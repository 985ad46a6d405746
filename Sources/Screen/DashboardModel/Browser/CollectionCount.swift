// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The number of documents of a collection, as far as it is known: the server's, with the time until which it was right,
/// and the cache's where the server cannot be asked.
package struct CollectionCount: Hashable, Sendable {
  package struct Known: Hashable, Sendable {
    package let number: Int
    package fileprivate(set) var time: Timestamp
  }

  /// The last number of the server's.
  package private(set) var known: Known?
  /// The number of documents in the cache, counted while the server was out of reach.
  package private(set) var cached: Int?

  package init() {}

  /// The number of documents that can be shown now.
  package var number: Int? { cached ?? known?.number }

  package mutating func take(_ number: Int, at time: Timestamp) {
    known = Known(number: max(0, number), time: time)
    cached = nil
  }

  /// Takes what the cache has; what the server was known to have stays known.
  package mutating func takeCached(_ number: Int) { cached = max(0, number) }

  package mutating func forgetCached() { cached = nil }

  /// Notes that the server's number is right at a time.
  package mutating func confirm(at time: Timestamp) {
    guard let known, known.time < time else { return }
    self.known?.time = time
  }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    if let time = known?.time { known?.time = moved(time) }
  }
}

/// The age of a number that is not kept up: in steps of ten seconds, of minutes and of hours, so that a screen on which
/// nothing else happens changes rarely. It is never more than the age.
package enum CountAge {
  /// `<0:10`, `0:40`, `12:00`, `3 h`, `2 d`.
  package static func text(of time: Timestamp, at now: Timestamp) -> String {
    let seconds = now.wholeSeconds(since: time)
    switch seconds {
    case ..<10: return "<0:10"
    case ..<3600: return TimeText.elapsed(seconds: seconds - seconds % step(seconds))
    case ..<86_400: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }

  /// The time at which the text changes.
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
