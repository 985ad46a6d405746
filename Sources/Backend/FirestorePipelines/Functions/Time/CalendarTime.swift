// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A time as the calendar and the clock of a time zone show it.
struct CalendarTime {
  /// The days since 1970-01-01, in the time zone.
  var days: Int64
  /// The seconds since midnight by the zone's clock.
  var secondOfDay: Int64
  var microseconds: Int64

  init(_ time: Timestamp, offset: Int64) {
    (days, secondOfDay) = (time.seconds + offset).flooredQuotientAndRemainder(dividingBy: 86_400)
    microseconds = Int64(time.nanoseconds) / 1_000
  }

  var localSeconds: Int64 { days * 86_400 + secondOfDay }
  var date: (year: Int64, month: Int64, day: Int64) { Timestamp.civilDate(daysSinceEpoch: days) }
  /// The day of the week, 0 for Sunday.
  var weekday: Int64 { (days + 4).flooredQuotientAndRemainder(dividingBy: 7).1 }
  var firstOfYear: Int64 { Timestamp.daysSinceEpoch(year: date.year, month: 1, day: 1) }

  /// The number of days since the last such weekday.
  func daysSince(weekday first: Int64) -> Int64 { (weekday - first + 7) % 7 }

  /// The number of weeks that have begun on such a weekday this year.
  func week(from first: Int64) -> Int64 { (days - firstOfYear + 7 - daysSince(weekday: first)) / 7 }

  /// The week of ISO 8601, and its year, which is that of its Thursday.
  var isoWeek: (year: Int64, week: Int64) {
    let thursday = days - daysSince(weekday: 1) + 3
    let year = Timestamp.civilDate(daysSinceEpoch: thursday).year
    return (year, (thursday - Timestamp.daysSinceEpoch(year: year, month: 1, day: 1)) / 7 + 1)
  }

  /// The day with which the ISO year begins, a Monday.
  var firstOfISOYear: Int64 { days - daysSince(weekday: 1) - (isoWeek.week - 1) * 7 }
}

/// A part of a time, or the unit to which a time is truncated.
enum TimePart: Equatable {
  case microsecond, millisecond, second, minute, hour, day, month, quarter, year
  /// - Parameter first: the weekday with which weeks begin, 0 for Sunday.
  case week(first: Int64)
  case isoWeek, isoYear, dayOfWeek, dayOfYear

  static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
  private static let named: [String: TimePart] = [
    "microsecond": .microsecond, "millisecond": .millisecond, "second": .second, "minute": .minute, "hour": .hour,
    "day": .day, "week": .week(first: 0), "month": .month, "quarter": .quarter, "year": .year, "isoweek": .isoWeek,
    "isoyear": .isoYear, "dayofweek": .dayOfWeek, "dayofyear": .dayOfYear,
  ]

  init?(_ name: String) {
    let name = name.lowercased()
    if let part = Self.named[name] {
      self = part
    } else if name.hasPrefix("week("), name.hasSuffix(")"),
      let first = Self.weekdays.firstIndex(of: String(name.dropFirst(5).dropLast()))
    {
      self = .week(first: Int64(first))
    } else {
      return nil
    }
  }

  static var names: String { (named.keys.sorted() + ["week(monday)"]).joined(separator: ", ") }

  func value(in time: CalendarTime) -> Int64 {
    switch self {
    case .microsecond: time.microseconds
    case .millisecond: time.microseconds / 1_000
    case .second: time.secondOfDay % 60
    case .minute: time.secondOfDay / 60 % 60
    case .hour: time.secondOfDay / 3_600
    case .day: time.date.day
    case .dayOfWeek: time.weekday + 1
    case .dayOfYear: time.days - time.firstOfYear + 1
    case .week(let first): time.week(from: first)
    case .isoWeek: time.isoWeek.week
    case .month: time.date.month
    case .quarter: (time.date.month + 2) / 3
    case .year: time.date.year
    case .isoYear: time.isoWeek.year
    }
  }

  /// The beginning of the part, in seconds of local time; `nil` for a part to which no time can be truncated.
  func start(of time: CalendarTime) -> (seconds: Int64, microseconds: Int64)? {
    let (year, month, _) = time.date
    func first(_ year: Int64, _ month: Int64) -> Int64 {
      Timestamp.daysSinceEpoch(year: year, month: month, day: 1) * 86_400
    }
    return switch self {
    case .microsecond: (time.localSeconds, time.microseconds)
    case .millisecond: (time.localSeconds, time.microseconds / 1_000 * 1_000)
    case .second: (time.localSeconds, 0)
    case .minute: (time.localSeconds - time.secondOfDay % 60, 0)
    case .hour: (time.localSeconds - time.secondOfDay % 3_600, 0)
    case .day: (time.days * 86_400, 0)
    case .week(let first): ((time.days - time.daysSince(weekday: first)) * 86_400, 0)
    case .isoWeek: ((time.days - time.daysSince(weekday: 1)) * 86_400, 0)
    case .month: (first(year, month), 0)
    case .quarter: (first(year, (month - 1) / 3 * 3 + 1), 0)
    case .year: (first(year, 1), 0)
    case .isoYear: (time.firstOfISOYear * 86_400, 0)
    case .dayOfWeek, .dayOfYear: nil
    }
  }
}
