// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The field statistics of one collection: counts of documents, values and changes. Their size is bounded even for
/// large collections.
package struct FieldStatistics: Sendable {
  package struct Field: Sendable {
    /// The count of sampled documents with the field.
    package fileprivate(set) var documents = 0
    /// The count of observed changes of the field.
    package fileprivate(set) var changes = 0
    /// The field's values as text, up to a limit.
    package fileprivate(set) var values: Set<String> = []
    /// Whether there were more values than the limit.
    package fileprivate(set) var hasMoreValues = false
    package fileprivate(set) var kind = Kind.other
    /// The width of the field's widest value in columns.
    package fileprivate(set) var width = 0
  }

  /// The kind of values for which a column is formatted. The first non-null value of the field determines the kind.
  package enum Kind: Hashable, Sendable { case text, number, flag, time, container, other }

  /// The maximum count of sampled documents. More would hardly change the statistics.
  private static let sample = 200
  private static let mostFields = 64
  private static let mostValues = 32

  package private(set) var fields: [String: Field] = [:]

  package init() {}
  private var seen: Set<DocumentKey> = []

  package var documentCount: Int { seen.count }

  /// Adds a document to the statistics, unless it was already added.
  package mutating func note(_ document: Document) {
    guard seen.count < Self.sample, let data = document.data, seen.insert(document.key).inserted else { return }
    for entry in data.fields.entries.prefix(Self.mostFields) {
      guard fields.count < Self.mostFields || fields[entry.name] != nil else { continue }
      fields[entry.name, default: Field()].documents += 1
      fields[entry.name]?.note(entry.value)
    }
  }

  /// Adds a change of a field to the statistics.
  package mutating func note(_ change: FieldChange) {
    let name = change.path.first
    guard fields[name] != nil || fields.count < Self.mostFields else { return }
    fields[name, default: Field()].changes += 1
    if change.path.segments.count == 1, let new = change.new { fields[name]?.note(new) }
  }
}

extension FieldStatistics.Field {
  fileprivate mutating func note(_ value: Value) {
    if kind == .other { kind = FieldStatistics.Kind(value) }
    let text = ColumnText.text(of: value)
    width = max(width, ColumnText.columns(of: text))
    if values.count < FieldStatistics.mostValues {
      values.insert(text)
    } else if !values.contains(text) {
      hasMoreValues = true
    }
  }

  /// Whether the field has the same value in all sampled documents.
  fileprivate func isConstant(among count: Int) -> Bool {
    count >= 5 && documents * 10 >= count * 8 && values.count == 1 && changes == 0
  }

  /// Whether the field has a few short, recurring texts, such as states and cities.
  var isEnumeration: Bool {
    kind == .text && !hasMoreValues && values.count <= 8 && width <= 16 && documents > 1
      && values.count < documents && values.count <= max(3, documents / 2)
  }

  /// Whether the field has long texts without blanks that all differ, like document ids.
  private var looksLikeID: Bool {
    kind == .text && width >= 16 && values.count == max(1, min(documents, FieldStatistics.mostValues))
      && values.allSatisfy { !$0.contains(" ") }
  }

  private var interestOfKind: Double {
    switch kind {
    case .text: isEnumeration ? 3 : looksLikeID ? 0.4 : width > 24 ? 2.2 : 2.4
    case .number: 2
    case .flag: 1.2
    case .time: 0.6
    case .container: 0.3
    case .other: 0.2
    }
  }

  /// The score of the field as a column. An informative field has a high score. A field with a constant value has a
  /// score near zero.
  fileprivate func interest(among count: Int) -> Double {
    guard count > 0 || changes > 0 else { return 0 }
    let base = interestOfKind
    let share = count > 0 ? min(1, Double(max(documents, changes > 0 ? 1 : 0)) / Double(count)) : 1
    // A changing time is usually the time of the change itself.
    let liveliness = changes == 0 ? 0 : kind == .time ? 0.2 : kind == .container ? 0.6 : 1.5
    return (isConstant(among: count) ? base * 0.1 : base) * (0.3 + 0.7 * share) + liveliness
  }
}

extension FieldStatistics {
  /// All fields, most informative first. A field is informative if it differs between documents or changes.
  package var byInterest: [String] {
    let scored = fields.map { (name: $0.key, score: $0.value.interest(among: documentCount)) }
    return scored.sorted { left, right in
      if left.score != right.score { return left.score > right.score }
      return left.name.compareUTF8(right.name) == .ascending
    }.map(\.name)
  }

  /// The fields that have changed, most informative first. Times, arrays and maps are omitted, because they usually
  /// change together with other fields.
  var changing: [String] {
    guard fields.values.contains(where: { $0.changes > 0 }) else { return [] }
    return byInterest.filter { name in
      guard let field = fields[name] else { return false }
      return field.changes > 0 && field.kind != .time && field.kind != .container
    }
  }

  /// The field that the user probably wants to edit. This is the field that changes most, except times. If no field has
  /// changed, this is the first field with a few recurring texts, such as a status.
  package var likelyEdited: String? {
    changing.max { (fields[$0]?.changes ?? 0, $1) < (fields[$1]?.changes ?? 0, $0) }
      ?? byInterest.first { fields[$0]?.isEnumeration == true }
  }

  /// The fields of `byInterest` that are useful as columns. Constant and rare fields are omitted. Arrays and maps are
  /// omitted unless there are no other fields.
  var worthColumns: [String] {
    let all = byInterest
    let telling = all.filter { name in
      guard let field = fields[name] else { return false }
      let isRare = field.documents * 4 < documentCount && field.changes == 0
      let isPlain = field.kind != .container && field.kind != .other
      return isPlain && !isRare && !field.isConstant(among: documentCount)
    }
    return telling.isEmpty ? all : telling
  }
}

extension FieldStatistics.Kind {
  package init(_ value: Value) {
    switch value {
    case .string: self = .text
    case .integer, .double: self = .number
    case .boolean: self = .flag
    case .timestamp, .serverTimestamp: self = .time
    case .array, .map, .vector: self = .container
    case .null, .bytes, .geoPoint, .reference: self = .other
    }
  }
}

/// The fields of some documents, each with its type and a summary of its values.
package struct CollectionSummary: Sendable {
  /// A summary of a field's values.
  package enum Values: Sendable {
    /// The most frequent values, and the count of documents with other values.
    case frequent([Count], others: Int)
    case numbers(least: Double, median: Double, most: Double)
    case times(first: Timestamp, last: Timestamp)
    /// The lengths of arrays.
    case lengths(least: Int, most: Int)
    /// The field names of maps.
    case names([String])
    /// The first values, if all values differ.
    case examples([Value])
  }

  package struct Count: Sendable {
    package var value: Value
    package var documents: Int
  }

  package struct Field: Sendable {
    package var name: String
    /// The most frequent type of the field.
    package var type: String
    /// The count of documents with the field.
    package var documents: Int
    package var values: Values
  }

  /// The maximum count of documents that are read. Reading them takes little time compared with drawing a frame.
  private static let most = 200
  private static let mostValues = 4

  package let documents: Int
  package let fields: [Field]

  /// - Parameter interest: determines the order of the fields.
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
    // A few recurring values are more informative than their range.
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

  /// The values with their document counts, most frequent first. Equally frequent values are in order of their first
  /// occurrence.
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
