// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc
import Synchronization

/// The offsets of a time zone from UTC over time, read from the system's time zone database (RFC 8536). Foundation has
/// other offsets before 1970 for 93 of 443 zones, and is five times slower.
struct TimeZone: Sendable {
  static let utc = TimeZone(fixed: 0)

  /// The start times of the offsets, in seconds since the epoch, ascending.
  private let times: [Int64]
  private let offsets: [Int64]
  /// The offset before the first time.
  private let first: Int64
  /// The rule for offsets after the last time.
  private let rule: DaylightRule?

  /// - Parameter offset: the offset in seconds.
  init(fixed offset: Int64) { (times, offsets, first, rule) = ([], [], offset, nil) }

  /// - Returns: `nil` for bytes that are not a time zone file.
  init?(file bytes: [UInt8]) {
    var reader = ZoneFileReader(bytes)
    guard let oldHeader = reader.header() else { return nil }
    var (header, width) = (oldHeader, 4)
    if oldHeader.version >= 2 {
      guard reader.skip(oldHeader.size(width: 4)), let newHeader = reader.header() else { return nil }
      (header, width) = (newHeader, 8)
    }
    guard let times = reader.integers(header.times, width: width),
      let indexes = reader.integers(header.times, width: 1), header.types > 0,
      times == times.sorted(), indexes.allSatisfy({ (0..<Int64(header.types)).contains($0) })
    else { return nil }
    var types: [Int64] = []
    for _ in 0..<header.types {
      guard let offset = reader.integer(width: 4), abs(offset) < 200_000, reader.skip(2) else { return nil }
      types.append(offset)
    }
    guard reader.skip(header.characters + header.leaps * (width + 4) + header.indicators) else { return nil }
    (self.times, offsets, first) = (times, indexes.map { types[Int($0)] }, types[0])
    rule = width == 8 ? DaylightRule(reader.rest) : nil
  }

  /// The offset from UTC in seconds.
  func offset(at seconds: Int64) -> Int64 {
    if let last = times.last, seconds < last || rule == nil {
      var (low, high) = (0, times.count)
      while low < high {
        let middle = (low + high) / 2
        if times[middle] <= seconds { low = middle + 1 } else { high = middle }
      }
      return low == 0 ? first : offsets[low - 1]
    }
    return rule?.offset(at: seconds) ?? offsets.last ?? first
  }

  /// The time at which the local clock shows this many seconds since 1970. If the clock shows this value twice, returns
  /// the earlier time. If the clock skips this value, returns the time of the clock change.
  func seconds(ofLocal local: Int64) -> Int64 {
    let before = local - offset(at: local - 86_400)
    if before + offset(at: before) == local { return before }
    let after = local - offset(at: local + 86_400)
    return after + offset(at: after) == local ? after : max(before, after)
  }
}

/// Reads time zones by name, and caches them.
final class TimeZones: Sendable {
  private static let folder = "/usr/share/zoneinfo/"
  private static let longestFile = 64 << 10
  /// The maximum number of cached zones. Zones beyond this number are read from the system each time.
  private static let mostKept = 64

  private let known = Mutex<[String: TimeZone]>([:])

  /// The zone of `UTC`, of an offset such as `+05:30`, or of a name in the system's database; `nil` for any other text.
  func zone(_ name: String) -> TimeZone? {
    if name == "UTC" || name == "GMT" || name == "Z" { return .utc }
    if let zone = known.withLock({ $0[name] }) { return zone }
    guard let zone = Self.offset(name).map(TimeZone.init(fixed:)) ?? Self.read(name) else { return nil }
    known.withLock { if $0.count < Self.mostKept { $0[name] = zone } }
    return zone
  }

  /// The seconds of an offset such as `+05:30` or `-8`.
  private static func offset(_ text: String) -> Int64? {
    let sign: Int64 = text.hasPrefix("-") ? -1 : 1
    guard text.hasPrefix("+") || text.hasPrefix("-") else { return nil }
    let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int64($0) : nil }
    guard numbers.count == parts.count, (1...2).contains(numbers.count), numbers[0] < 24,
      numbers.count == 1 || numbers[1] < 60
    else { return nil }
    return sign * (numbers[0] * 3_600 + (numbers.count > 1 ? numbers[1] * 60 : 0))
  }

  /// Reads the file of a zone. Rejects names that refer to files outside of the database's folder.
  private static func read(_ name: String) -> TimeZone? {
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
      default: false
      }
    }
    guard isName, !name.isEmpty, name.utf8.count < 64, !name.hasPrefix("/") else { return nil }
    let file = open(folder + name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: longestFile)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
    guard count > 0, count < longestFile else { return nil }
    return TimeZone(file: Array(bytes[..<count]))
  }
}

/// A reader of a time zone file that never reads past the file's end.
private struct ZoneFileReader {
  struct Header {
    let version: Int
    let indicators: Int
    let leaps: Int
    let times: Int
    let types: Int
    let characters: Int

    /// The size of the data after the header, in bytes.
    func size(width: Int) -> Int { times * (width + 1) + types * 6 + characters + leaps * (width + 4) + indicators }
  }

  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, rest.count >= count else { return false }
    rest = rest.dropFirst(count)
    return true
  }

  /// Reads a big-endian integer, signed unless it is one byte.
  mutating func integer(width: Int) -> Int64? {
    guard rest.count >= width else { return nil }
    let bits = rest.prefix(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(width)
    return width == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
  }

  mutating func integers(_ count: Int, width: Int) -> [Int64]? {
    guard rest.count >= count * width else { return nil }
    return (0..<count).compactMap { _ in integer(width: width) }
  }

  mutating func header() -> Header? {
    guard rest.starts(with: "TZif".utf8), rest.count >= 44 else { return nil }
    let version = Int(rest[rest.startIndex + 4]) - 48
    rest = rest.dropFirst(20)
    guard let counts = integers(6, width: 4), counts.allSatisfy({ (0...100_000).contains($0) }) else { return nil }
    return Header(
      version: max(version, 0), indicators: Int(counts[0] + counts[1]), leaps: Int(counts[2]), times: Int(counts[3]),
      types: Int(counts[4]), characters: Int(counts[5]))
  }
}

/// The yearly rule at the end of a time zone file: `PST8PDT,M3.2.0,M11.1.0` (POSIX, `TZ`).
struct DaylightRule: Sendable {
  /// The time of a clock change: a day, and the seconds after its start.
  private struct Change: Sendable {
    enum Day: Sendable {
      /// A weekday of a month by its ordinal number; 5 means the last one.
      case weekday(month: Int64, week: Int64, day: Int64)
      /// A day of the year, 1 to 365, not counting February 29.
      case julian(Int64)
      /// A day of the year, 0 to 365.
      case ordinal(Int64)
    }

    let day: Day
    let seconds: Int64

    /// The seconds since 1970 on the local clock.
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

  /// - Parameter bytes: the text between two line ends.
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

  /// Reads a name: `PST`, or any text in angle brackets.
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
