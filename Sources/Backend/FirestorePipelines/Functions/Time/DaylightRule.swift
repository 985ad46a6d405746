// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The yearly rule with which a file of the time zone database ends: `PST8PDT,M3.2.0,M11.1.0` (POSIX, `TZ`).
struct DaylightRule: Sendable {
  /// The moment at which clocks change: a day, and seconds after its beginning.
  private struct Change: Sendable {
    enum Day: Sendable {
      /// A weekday of a month by its ordinal number; 5 for the last.
      case weekday(month: Int64, week: Int64, day: Int64)
      /// A day of the year, 1 to 365, with the 29th of February not counted.
      case julian(Int64)
      /// A day of the year, 0 to 365.
      case ordinal(Int64)
    }

    let day: Day
    let seconds: Int64

    /// The seconds since 1970 by the local clock.
    func moment(in year: Int64) -> Int64 {
      func first(_ month: Int64) -> Int64 { Timestamp.daysSinceEpoch(year: year, month: month, day: 1) }
      let days: Int64
      switch day {
      case .weekday(let month, let week, let day):
        let start = first(month)
        let weekday = (start + 4).flooredQuotientAndRemainder(dividingBy: 7).1
        let earliest = start + (day - weekday + 7) % 7
        let latest = start + Timestamp.days(inMonth: month, of: year) - 1
        days = earliest + 7 * (week - 1) > latest ? earliest + 7 * (week - 2) : earliest + 7 * (week - 1)
      case .julian(let number):
        days = first(1) + number - 1 + (number > 59 && Timestamp.days(inMonth: 2, of: year) == 29 ? 1 : 0)
      case .ordinal(let number): days = first(1) + number
      }
      return days * 86_400 + seconds
    }
  }

  private let standard: Int64
  private let daylight: (offset: Int64, start: Change, end: Change)?

  /// - Parameter bytes: the text between two ends of lines.
  /// - Returns: `nil` for any other text.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.first == 10, bytes.last == 10, bytes.count > 2 else { return nil }
    var scanner = RuleScanner(bytes.dropFirst().dropLast())
    guard scanner.name(), let offset = scanner.offset() else { return nil }
    standard = -offset
    if scanner.isAtEnd {
      daylight = nil
      return
    }
    guard scanner.name() else { return nil }
    let summer = scanner.peek == UInt8(ascii: ",") ? standard + 3_600 : scanner.offset().map { -$0 }
    guard let summer, let start = Self.change(&scanner), let end = Self.change(&scanner), scanner.isAtEnd else {
      return nil
    }
    daylight = (summer, start, end)
  }

  func offset(at seconds: Int64) -> Int64 {
    guard let daylight else { return standard }
    let days = (seconds + standard).flooredQuotientAndRemainder(dividingBy: 86_400).0
    let year = Timestamp.civilDate(daysSinceEpoch: days).year
    let start = daylight.start.moment(in: year) - standard
    let end = daylight.end.moment(in: year) - daylight.offset
    let isSummer = start < end ? start <= seconds && seconds < end : seconds < end || start <= seconds
    return isSummer ? daylight.offset : standard
  }

  private static func change(_ scanner: inout RuleScanner) -> Change? {
    guard scanner.take(",") else { return nil }
    let day: Change.Day
    if scanner.take("M") {
      guard let month = scanner.number(), scanner.take("."), let week = scanner.number(), scanner.take("."),
        let weekday = scanner.number(), (1...12).contains(month), (1...5).contains(week), weekday < 7
      else { return nil }
      day = .weekday(month: month, week: week, day: weekday)
    } else {
      let isJulian = scanner.take("J")
      guard let number = scanner.number(), (isJulian ? 1 : 0)...365 ~= number else { return nil }
      day = isJulian ? .julian(number) : .ordinal(number)
    }
    if !scanner.take("/") { return Change(day: day, seconds: 7_200) }
    return scanner.offset().map { Change(day: day, seconds: $0) }
  }
}

private struct RuleScanner {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }
  var peek: UInt8? { rest.first }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads a name: `PST`, or any text between angle brackets.
  mutating func name() -> Bool {
    let before = rest.count
    if take("<") {
      while let byte = rest.popFirst(), byte != UInt8(ascii: ">") {}
    } else {
      while let byte = rest.first, (65...90).contains(byte & 0xDF) { rest.removeFirst() }
    }
    return rest.count < before
  }

  mutating func number() -> Int64? {
    var (number, digits) = (Int64(0), 0)
    while let byte = rest.first, (48...57).contains(byte), digits < 4 {
      number = number * 10 + Int64(byte - 48)
      digits += 1
      rest.removeFirst()
    }
    return digits > 0 ? number : nil
  }

  /// Reads an offset, `8` or `-3:30`, in seconds.
  mutating func offset() -> Int64? {
    let sign: Int64 = take("-") ? -1 : 1
    if sign > 0 { _ = take("+") }
    guard let hours = number(), hours <= 167 else { return nil }
    var seconds = hours * 3_600
    for unit in [Int64(60), 1] where take(":") {
      guard let part = number(), part < 60 else { return nil }
      seconds += part * unit
    }
    return sign * seconds
  }
}
