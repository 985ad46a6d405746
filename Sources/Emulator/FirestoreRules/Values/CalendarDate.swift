// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

/// A day of the proleptic Gregorian calendar.
struct CalendarDate {
  var year: Int64
  var month: Int64
  var day: Int64
  /// The number of days since 1970-01-01.
  var days: Int64

  /// The day of the week, from 1 for Monday to 7 for Sunday.
  var dayOfWeek: Int64 {
    let shifted = (days + 3) % 7
    return (shifted < 0 ? shifted + 7 : shifted) + 1
  }

  /// The day of the year, counted from 1.
  var dayOfYear: Int64 { days - Timestamp.daysSinceEpoch(year: year, month: 1, day: 1) + 1 }
}

extension Timestamp {
  /// - Returns: `nil` for a day that does not exist, or that is outside Firestore's range.
  init?(year: Int64, month: Int64, day: Int64) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.days(inMonth: month, of: year)
    else { return nil }
    self.init(seconds: Self.daysSinceEpoch(year: year, month: month, day: day) * 86_400)
  }

  /// The day, and the number of seconds since its midnight.
  var dateAndSecondOfDay: (date: CalendarDate, secondOfDay: Int64) {
    var days = seconds / 86_400
    var rest = seconds % 86_400
    if rest < 0 {
      rest += 86_400
      days -= 1
    }
    let (year, month, day) = Self.civilDate(daysSinceEpoch: days)
    return (CalendarDate(year: year, month: month, day: day, days: days), rest)
  }
}

extension GeoPoint {
  /// The distance in meters, along a sphere with the Earth's mean radius.
  func distance(to other: GeoPoint) -> Double {
    let radians = Double.pi / 180
    let latitudes = (latitude * radians, other.latitude * radians)
    let halves = (sin((latitudes.1 - latitudes.0) / 2), sin((other.longitude - longitude) * radians / 2))
    let square = halves.0 * halves.0 + cos(latitudes.0) * cos(latitudes.1) * halves.1 * halves.1
    return 2 * 6_371_009 * asin(min(1, square.squareRoot()))
  }
}
