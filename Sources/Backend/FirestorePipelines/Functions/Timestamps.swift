// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

enum Timestamps {
  static let functions: [Function] = [
    Function("current_timestamp", 0...0) { _, context in .timestamp(context.time) },
    Function("timestamp_to_unix_micros", 1) { values, _ throws(EvaluationError) in
      .integer(try values[0].time(of: "timestamp_to_unix_micros").microseconds)
    },
    Function("timestamp_to_unix_millis", 1) { values, _ throws(EvaluationError) in
      let time = try values[0].time(of: "timestamp_to_unix_millis")
      return .integer(time.seconds * 1_000 + Int64(time.nanoseconds) / 1_000_000)
    },
    Function("timestamp_to_unix_seconds", 1) { values, _ throws(EvaluationError) in
      .integer(try values[0].time(of: "timestamp_to_unix_seconds").seconds)
    },
    Function("unix_micros_to_timestamp", 1) { values, _ throws(EvaluationError) in
      try time(values[0], "unix_micros_to_timestamp", microseconds: 1)
    },
    Function("unix_millis_to_timestamp", 1) { values, _ throws(EvaluationError) in
      try time(values[0], "unix_millis_to_timestamp", microseconds: 1_000)
    },
    Function("unix_seconds_to_timestamp", 1) { values, _ throws(EvaluationError) in
      try time(values[0], "unix_seconds_to_timestamp", microseconds: 1_000_000)
    },
    Function("timestamp_add", 3) { values, _ throws(EvaluationError) in try shifted("timestamp_add", values, 1) },
    Function("timestamp_sub", 3) { values, _ throws(EvaluationError) in try shifted("timestamp_sub", values, -1) },
    Function("timestamp_subtract", 3) { values, _ throws(EvaluationError) in
      try shifted("timestamp_subtract", values, -1)
    },
    Function("timestamp_diff", 3) { values, _ throws(EvaluationError) in
      let (end, start) = (try values[0].time(of: "timestamp_diff"), try values[1].time(of: "timestamp_diff"))
      return .integer((end.microseconds - start.microseconds) / (try unit("timestamp_diff", values[2])))
    },
    Function("timestamp_trunc", 2...3) { values, context throws(EvaluationError) in try cut(values, context) },
    Function("timestamp_extract", 2...3) { values, context throws(EvaluationError) in
      let time = try values[0].time(of: "timestamp_extract")
      let part = try part("timestamp_extract", values[1])
      let zone = try zone("timestamp_extract", values, context)
      return .integer(part.value(in: CalendarTime(time, offset: zone.offset(at: time.seconds))))
    },
  ]

  private static func checked(_ microseconds: Int64, _ function: String) throws(EvaluationError) -> Value {
    let time = Timestamp(microseconds: microseconds)
    guard time.isValid else { throw EvaluationError("The result of \(function)() is outside of the years 1 to 9999.") }
    return .timestamp(time)
  }

  private static func time(
    _ value: Value, _ function: String, microseconds unit: Int64
  ) throws(EvaluationError) -> Value {
    let (sum, isTooLarge) = try value.integer(of: function).multipliedReportingOverflow(by: unit)
    return try checked(isTooLarge ? .max : sum, function)
  }

  private static func shifted(
    _ function: String, _ values: [Value], _ sign: Int64
  ) throws(EvaluationError) -> Value {
    let time = try values[0].time(of: function)
    let unit = try unit(function, values[1])
    let (shift, isTooLarge) = try values[2].integer(of: function).multipliedReportingOverflow(by: unit * sign)
    let (sum, isOutside) = time.microseconds.addingReportingOverflow(shift)
    return try checked(isTooLarge || isOutside ? .max : sum, function)
  }

  /// A unit's length in microseconds.
  private static func unit(_ function: String, _ value: Value) throws(EvaluationError) -> Int64 {
    let name = try value.text(of: function)
    switch TimePart(name) {
    case .microsecond?: return 1
    case .millisecond?: return 1_000
    case .second?: return 1_000_000
    case .minute?: return 60_000_000
    case .hour?: return 3_600_000_000
    case .day?: return 86_400_000_000
    default:
      throw EvaluationError(
        "\(function)(): unknown unit '\(name)'. Units: microsecond, millisecond, second, minute, hour, day.")
    }
  }

  private static func part(_ function: String, _ value: Value) throws(EvaluationError) -> TimePart {
    let name = try value.text(of: function)
    guard let part = TimePart(name) else {
      throw EvaluationError("\(function)(): unknown part '\(name)'. Parts: \(TimePart.names).")
    }
    return part
  }

  private static func zone(
    _ function: String, _ values: [Value], _ context: EvaluationContext
  ) throws(EvaluationError) -> TimeZone {
    if values.count < 3 { return .utc }
    let name = try values[2].text(of: function)
    guard let zone = context.zones.zone(name) else {
      throw EvaluationError(
        "\(function)(): unknown time zone '\(name)'. Use a name that the server's system knows, such as "
          + "\"America/Los_Angeles\", or an offset such as \"+05:30\".")
    }
    return zone
  }

  private static func cut(_ values: [Value], _ context: EvaluationContext) throws(EvaluationError) -> Value {
    let time = try values[0].time(of: "timestamp_trunc")
    let part = try part("timestamp_trunc", values[1])
    let zone = try zone("timestamp_trunc", values, context)
    let local = CalendarTime(time, offset: zone.offset(at: time.seconds))
    guard let start = part.start(of: local) else {
      throw EvaluationError("timestamp_trunc() cannot truncate a time to a part of a week or year.")
    }
    let seconds = zone.seconds(ofLocal: start.seconds)
    return try checked(seconds * 1_000_000 + start.microseconds, "timestamp_trunc")
  }
}

/// A time in the calendar and on the clock of a time zone.
struct CalendarTime {
  /// The days since 1970-01-01, in the time zone.
  var days: Int64
  /// The seconds since midnight on the zone's clock.
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

  /// The number of days since the last day with this weekday.
  func daysSince(weekday first: Int64) -> Int64 { (weekday - first + 7) % 7 }

  /// The number of weeks that have started this year, if weeks start on this weekday.
  func week(from first: Int64) -> Int64 { (days - firstOfYear + 7 - daysSince(weekday: first)) / 7 }

  /// The ISO 8601 week, and the year that contains its Thursday.
  var isoWeek: (year: Int64, week: Int64) {
    let thursday = days - daysSince(weekday: 1) + 3
    let year = Timestamp.civilDate(daysSinceEpoch: thursday).year
    return (year, (thursday - Timestamp.daysSinceEpoch(year: year, month: 1, day: 1)) / 7 + 1)
  }

  /// The first day of the ISO year, a Monday.
  var firstOfISOYear: Int64 { days - daysSince(weekday: 1) - (isoWeek.week - 1) * 7 }
}

/// A part of a time, or the unit of a truncated time.
enum TimePart: Equatable {
  case microsecond, millisecond, second, minute, hour, day, month, quarter, year
  /// - Parameter first: the first weekday of a week, 0 for Sunday.
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

  /// The start of the part, in seconds of local time; `nil` for a part that a time cannot be truncated to.
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
