// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The statistics of the fields of one collection: numbers of documents, values and changes. Bounded, whatever the size
/// of the collection.
package struct FieldStatistics: Sendable {
  package struct Field: Sendable {
    /// The number of sampled documents that have the field.
    package fileprivate(set) var documents = 0
    /// The number of times that the field was seen to change.
    package fileprivate(set) var changes = 0
    /// The field's values as text, or the first of them.
    package fileprivate(set) var values: Set<String> = []
    /// Whether there were more values than are remembered.
    package fileprivate(set) var hasMoreValues = false
    package fileprivate(set) var kind = Kind.other
    /// The columns that the widest value of the field takes.
    fileprivate(set) var width = 0
  }

  /// The form in which a field is shown in a column, by its first value that is not null.
  package enum Kind: Hashable, Sendable { case text, number, flag, time, container, other }

  /// The number of sampled documents; further ones would add little.
  private static let sample = 200
  private static let mostFields = 64
  private static let mostValues = 32

  package private(set) var fields: [String: Field] = [:]

  package init() {}
  private var seen: Set<DocumentKey> = []

  package var documentCount: Int { seen.count }

  /// Samples a document, once.
  package mutating func note(_ document: Document) {
    guard seen.count < Self.sample, let data = document.data, seen.insert(document.key).inserted else { return }
    for entry in data.fields.entries.prefix(Self.mostFields) {
      guard fields.count < Self.mostFields || fields[entry.name] != nil else { continue }
      fields[entry.name, default: Field()].documents += 1
      fields[entry.name]?.note(entry.value)
    }
  }

  /// Samples the field of a document's change.
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

  /// Whether the field is the same in all sampled documents.
  fileprivate func isConstant(among count: Int) -> Bool {
    count >= 5 && documents * 10 >= count * 8 && values.count == 1 && changes == 0
  }

  /// Whether the field has a few short texts that come again and again, such as states and cities.
  var isEnumeration: Bool {
    kind == .text && !hasMoreValues && values.count <= 8 && width <= 16 && documents > 1
      && values.count < documents && values.count <= max(3, documents / 2)
  }

  /// Whether the field has long texts without blanks that all differ, as keys of other documents are.
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

  /// The score of a column of the field by how much it tells; a constant field tells next to nothing.
  fileprivate func interest(among count: Int) -> Double {
    guard count > 0 || changes > 0 else { return 0 }
    let base = interestOfKind
    let share = count > 0 ? min(1, Double(max(documents, changes > 0 ? 1 : 0)) / Double(count)) : 1
    // A time that changes is mostly the time of the change.
    let liveliness = changes == 0 ? 0 : kind == .time ? 0.2 : kind == .container ? 0.6 : 1.5
    return (isConstant(among: count) ? base * 0.1 : base) * (0.3 + 0.7 * share) + liveliness
  }
}

extension FieldStatistics {
  /// All fields, the most telling ones first: those that differ between documents and those that change.
  package var byInterest: [String] {
    let scored = fields.map { (name: $0.key, score: $0.value.interest(among: documentCount)) }
    return scored.sorted { left, right in
      if left.score != right.score { return left.score > right.score }
      return left.name.compareUTF8(right.name) == .ascending
    }.map(\.name)
  }

  /// The fields of `byInterest` that are worth a column: not the same in all documents, not in few of them, and no
  /// containers, unless there are no others.
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
