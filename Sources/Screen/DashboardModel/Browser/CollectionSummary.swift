// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The fields of some documents, each with its type and what its values have in common: a collection at a glance.
package struct CollectionSummary: Sendable {
  /// Facts that the values of a field have in common.
  package enum Values: Sendable {
    /// The most frequent values, and the number of documents that have others.
    case frequent([Count], others: Int)
    case numbers(least: Double, median: Double, most: Double)
    case times(first: Timestamp, last: Timestamp)
    /// The lengths of arrays.
    case lengths(least: Int, most: Int)
    /// The names of the fields of maps.
    case names([String])
    /// Values that all differ: the first of them.
    case examples([Value])
  }

  package struct Count: Sendable {
    package var value: Value
    package var documents: Int
  }

  package struct Field: Sendable {
    package var name: String
    /// The most frequent type.
    package var type: String
    /// The number of documents that have the field.
    package var documents: Int
    package var values: Values
  }

  /// The number of documents that are looked at, which is little beside what a frame costs.
  private static let most = 200
  private static let mostValues = 4

  package let documents: Int
  package let fields: [Field]

  /// - Parameter interest: the order of the fields.
  package init(_ documents: [Document], _ interest: FieldInterest) {
    var values: [String: [Value]] = [:]
    let looked = documents.prefix(Self.most).compactMap(\.data?.fields)
    for fields in looked { for entry in fields.entries { values[entry.name, default: []].append(entry.value) } }
    self.documents = looked.count
    fields = interest.sorted(Array(values.keys)).map { name in
      let all = values[name] ?? []
      return Field(name: name, type: Self.type(of: all), documents: all.count, values: Self.values(of: all))
    }
  }

  private static func type(of values: [Value]) -> String {
    let counts = Dictionary(values.map { ($0.typeName, 1) }, uniquingKeysWith: +)
    return counts.min { ($1.value, $0.key) < ($0.value, $1.key) }?.key ?? ""
  }

  private static func values(of all: [Value]) -> Values {
    let numbers = all.compactMap(\.number).sorted()
    let times = all.compactMap { if case .timestamp(let time) = $0 { time } else { nil } }
    let lengths = all.compactMap { if case .array(let values) = $0 { values.count } else { nil } }
    let maps = all.compactMap { if case .map(let fields) = $0 { fields } else { nil } }
    let counts = counts(of: all)
    let repeats = counts.filter { $0.documents > 1 }
    // A few values that come again say more than the range in which they are.
    if !repeats.isEmpty, times.isEmpty, lengths.isEmpty, maps.isEmpty,
      numbers.isEmpty || counts.count <= mostValues
    {
      let shown = counts.prefix(mostValues)
      return .frequent(Array(shown), others: counts.dropFirst(mostValues).reduce(0) { $0 + $1.documents })
    }
    if let least = numbers.first, let most = numbers.last {
      return .numbers(least: least, median: numbers[numbers.count / 2], most: most)
    }
    if let first = times.min(), let last = times.max() { return .times(first: first, last: last) }
    if let least = lengths.min(), let most = lengths.max() { return .lengths(least: least, most: most) }
    if !maps.isEmpty { return .names(Set(maps.flatMap { $0.entries.map(\.name) }).sorted()) }
    return .examples(Array(all.prefix(mostValues)))
  }

  /// The values with the numbers of their documents, the most frequent first, then as they came.
  private static func counts(of all: [Value]) -> [Count] {
    var places: [String: Int] = [:]
    var counts: [Count] = []
    for value in all {
      let text = ValueText.short(value)
      if let place = places[text] {
        counts[place].documents += 1
      } else {
        places[text] = counts.count
        counts.append(Count(value: value, documents: 1))
      }
    }
    return counts.enumerated().sorted { ($1.element.documents, $0.offset) < ($0.element.documents, $1.offset) }
      .map(\.element)
  }
}

extension Value {
  fileprivate var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number.isNaN ? nil : number
    default: nil
    }
  }
}
