// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Timestamp {
  /// The time plus a count of seconds. A document can contain any 64-bit number of seconds, so an overflow wraps around
  /// instead of trapping.
  package func advanced(seconds amount: Int64) -> Timestamp {
    Timestamp(seconds: seconds &+ amount, nanoseconds: nanoseconds)
  }

  /// The whole seconds that have passed since `earlier`, never negative.
  package func wholeSeconds(since earlier: Timestamp) -> Int64 {
    guard self > earlier else { return 0 }
    let (difference, overflow) = seconds.subtractingReportingOverflow(earlier.seconds)
    if overflow { return .max }
    return nanoseconds < earlier.nanoseconds ? difference - 1 : difference
  }

  /// The milliseconds that have passed since `earlier`, never negative. An overflow results in the maximum.
  package func milliseconds(since earlier: Timestamp) -> Int64 {
    guard self > earlier else { return 0 }
    let (difference, overflow) = seconds.subtractingReportingOverflow(earlier.seconds)
    guard !overflow, difference < .max / 2000 else { return .max }
    return difference * 1000 + (Int64(nanoseconds) - Int64(earlier.nanoseconds)) / 1_000_000
  }

  /// The next full second after this time.
  package var nextSecond: Timestamp { Timestamp(seconds: seconds &+ 1) }
  package var nextMinute: Timestamp { Timestamp(seconds: (seconds / 60 &+ 1) &* 60) }
  /// The next whole second that is a multiple of `step` seconds.
  package func next(multipleOf step: Int64) -> Timestamp {
    floor(toMultipleOf: step).advanced(seconds: step)
  }
  /// The last whole second that is a multiple of `step` seconds.
  package func floor(toMultipleOf step: Int64) -> Timestamp {
    Timestamp(seconds: seconds &- ((seconds % step) + step) % step)
  }
  package var nextMillisecond: Timestamp { Timestamp(microseconds: microseconds &+ 1000) }
}

/// Times and durations as readable text, without a locale.
package enum TimeText {
  package enum Precision { case hours, minutes, seconds }

  /// The time of day `12:04:17` in the time zone that is `offset` seconds east of UTC.
  package static func clock(_ time: Timestamp, offset: Int) -> String {
    let (hour, minute, second) = timeOfDay(time, offset: offset)
    return "\(two(hour)):\(two(minute)):\(two(second))"
  }

  /// Whether two times are on the same day in the time zone that is `offset` seconds east of UTC.
  package static func isSameDay(_ left: Timestamp, _ right: Timestamp, offset: Int) -> Bool {
    func day(_ time: Timestamp) -> Int64 { (time.seconds &+ Int64(offset)) / 86_400 }
    return day(left) == day(right)
  }

  /// The time with milliseconds: `12:04:15.118`, without hours `04:15.118`, without minutes `15.118`.
  package static func milliseconds(_ time: Timestamp, offset: Int, from precision: Precision) -> String {
    let (hour, minute, second) = timeOfDay(time, offset: offset)
    let fraction = three(Int(time.nanoseconds) / 1_000_000)
    switch precision {
    case .hours: return "\(two(hour)):\(two(minute)):\(two(second)).\(fraction)"
    case .minutes: return "\(two(minute)):\(two(second)).\(fraction)"
    case .seconds: return "\(two(second)).\(fraction)"
    }
  }

  /// An elapsed time: `0:42`, `12:05`, `1:02:03`, `3d 4:05:06`.
  package static func elapsed(seconds: Int64) -> String {
    let seconds = max(0, seconds)
    let minutes = seconds / 60 % 60
    let hours = seconds / 3600 % 24
    let days = seconds / 86_400
    if days > 0 { return "\(days)d \(hours):\(two(Int(minutes))):\(two(Int(seconds % 60)))" }
    if hours > 0 { return "\(hours):\(two(Int(minutes))):\(two(Int(seconds % 60)))" }
    return "\(minutes):\(two(Int(seconds % 60)))"
  }

  /// A round duration: `16 s`, `4 min`, `2 h`.
  package static func span(seconds: Int64) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    default: "\(seconds / 3600) h"
    }
  }

  /// The date and time `2026-03-02 11:58:03.120Z`, with up to six fraction digits as needed.
  package static func date(_ time: Timestamp) -> String {
    Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1000 * 1000).rfc3339Text.replacing("T", with: " ")
  }

  /// An approximate age: `now`, `<1 min`, `12 min`, `3 h`, `2 d`. Approximate ages change rarely, so lists of them are
  /// rarely redrawn.
  package static func roughAge(of time: Timestamp, at now: Timestamp) -> String {
    let seconds = now.wholeSeconds(since: time)
    switch seconds {
    case ..<10: return "now"
    case ..<60: return "<1 min"
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }

  /// A latency: `184 ms`, `2.4 s`.
  package static func latency(_ duration: Duration) -> String {
    let milliseconds = wholeMilliseconds(duration)
    return milliseconds < 10_000 ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
  }

  /// A duration: `184 ms`, `2.4 s`, `80 s`. From two minutes on, the form is `2:05`.
  package static func span(_ duration: Duration) -> String {
    let milliseconds = wholeMilliseconds(duration)
    switch milliseconds {
    case ..<1000: return "\(milliseconds) ms"
    case ..<10_000: return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    case ..<120_000: return "\(milliseconds / 1000) s"
    default: return elapsed(seconds: milliseconds / 1000)
    }
  }

  package static func wholeMilliseconds(_ duration: Duration) -> Int64 {
    max(0, duration.wholeMicroseconds / 1000)
  }

  /// The remaining time until `end`, such as `3.4s`; `now` after that time.
  package static func countdown(to end: Timestamp, from now: Timestamp) -> String {
    let left = end.milliseconds(since: now)
    if left <= 0 { return "now" }
    return left < 10_000 ? "\(left / 1000).\(left / 100 % 10)s" : "\(left / 1000)s"
  }

  private static func timeOfDay(_ time: Timestamp, offset: Int) -> (Int, Int, Int) {
    let local = time.seconds &+ Int64(offset)
    let remainder = Int(local % 86_400)
    let second = remainder < 0 ? remainder + 86_400 : remainder
    return (second / 3600, second / 60 % 60, second % 60)
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  private static func three(_ number: Int) -> String {
    number < 10 ? "00\(number)" : number < 100 ? "0\(number)" : "\(number)"
  }
}

/// A number such as `1 000 000`: groups of three digits, separated by spaces in every locale.
package func grouped(_ number: Int) -> String {
  let digits = String(number.magnitude)
  var text = ""
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(" ") }
    text.append(digit)
  }
  return number < 0 ? "-" + text : text
}
