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
        "\(function)() does not know the unit '\(name)'. Units: microsecond, millisecond, second, minute, hour, day.")
    }
  }

  private static func part(_ function: String, _ value: Value) throws(EvaluationError) -> TimePart {
    let name = try value.text(of: function)
    guard let part = TimePart(name) else {
      throw EvaluationError("\(function)() does not know '\(name)'. It knows: \(TimePart.names).")
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
        "\(function)() does not know the time zone '\(name)'. It takes names such as \"America/Los_Angeles\", as far "
          + "as the server's system has them, and offsets such as \"+05:30\".")
    }
    return zone
  }

  private static func cut(_ values: [Value], _ context: EvaluationContext) throws(EvaluationError) -> Value {
    let time = try values[0].time(of: "timestamp_trunc")
    let part = try part("timestamp_trunc", values[1])
    let zone = try zone("timestamp_trunc", values, context)
    let local = CalendarTime(time, offset: zone.offset(at: time.seconds))
    guard let start = part.start(of: local) else {
      throw EvaluationError("timestamp_trunc() cannot cut a time down to a part of a week or year.")
    }
    let seconds = zone.seconds(ofLocal: start.seconds)
    return try checked(seconds * 1_000_000 + start.microseconds, "timestamp_trunc")
  }
}
