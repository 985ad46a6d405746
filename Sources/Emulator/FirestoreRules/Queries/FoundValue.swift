// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension RuleValue {
  /// The values that a field may have if a query finds it equal to a value. To queries an integer and a float of one
  /// number are equal, and so are both zeros, also inside lists and maps; rules tell them apart.
  /// - Returns: `nil` where the possible values cannot be told here.
  static func found(equalTo value: Value) -> RuleValue? {
    if let number = value.orderedNumber { return numbers(equalTo: number) }
    switch value {
    case .geoPoint(let point):
      let points = zeros(point.latitude).flatMap { latitude in
        zeros(point.longitude).map { RuleValue.latlng(GeoPoint(latitude: latitude, longitude: $0)) }
      }
      return points.count == 1 ? points[0] : .oneOf(points)
    case .array(let values):
      let elements = values.compactMap { found(equalTo: $0) }
      return elements.count == values.count ? .list(elements) : nil
    case .map(let fields):
      // Some BSON types compare by only a part of their fields.
      if value.bsonType != nil { return nil }
      let entries = fields.entries.compactMap { field in
        found(equalTo: field.value).map { RuleEntries.Entry(name: field.name, value: $0) }
      }
      return entries.count == fields.count ? .map(.entries(RuleEntries(sorted: entries))) : nil
    default: return RuleValue(value)
    }
  }

  private static func numbers(equalTo number: Value) -> RuleValue {
    var numbers = [RuleValue(number)]
    switch number {
    case .integer(let integer): numbers += Double(exactly: integer).map(zeros)?.map { .float($0) } ?? []
    case .double(let float):
      numbers = zeros(float).map { .float($0) }
      if let integer = Int64(exactly: float) { numbers.append(.int(integer)) }
    default: break
    }
    return numbers.count == 1 ? numbers[0] : .oneOf(numbers)
  }

  /// The number, and the other zero.
  private static func zeros(_ number: Double) -> [Double] { number == 0 ? [number, -number] : [number] }
}
