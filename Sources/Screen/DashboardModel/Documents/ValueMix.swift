// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The document counts of a result for each value of a field. The field has few values, such as a status.
///
/// The counts are exact, because each change is counted. If a part of the result is unknown, there are no counts.
package struct ValueMix: Sendable {
  /// The chosen field and the document count of each of its values. The values are in Firestore's value order.
  package struct Shown: Hashable, Sendable {
    package var field: String
    package var values: [Count]
  }

  package struct Count: Hashable, Sendable {
    package var value: String
    package var documents: Int
  }

  private struct Field: Sendable {
    var counts: [String: Int] = [:]
    /// The count of observed changes of the field's value.
    var changes = 0
    var documents: Int { counts.values.reduce(0, +) }
  }

  /// The maximum document count of a result whose values are counted.
  package static let most = 10_000
  private static let mostFields = 32
  private static let mostValues = 6
  private static let longestValue = 16

  private var documents = 0
  private var fields: [String: Field] = [:]
  /// Fields that are not counted, because they have too many values or long values.
  private var excluded: Set<String> = []
  private var chosen: String?

  package init() {}

  /// Replaces a document with its new version. `old` is `nil` for an added document, `new` for a removed one.
  package mutating func replace(_ old: Document?, with new: Document?) {
    documents += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
    if let old { for (name, value) in Self.values(of: old) { count(value, of: name, by: -1) } }
    if let new {
      for (name, value) in Self.values(of: new) {
        count(value, of: name, by: 1)
        if let was = old?.data?.fields[FieldPath(segments: [name])], Self.text(of: was) != value {
          fields[name]?.changes += 1
        }
      }
    }
  }

  private static func values(of document: Document) -> [(String, String?)] {
    (document.data?.fields.entries ?? []).prefix(mostFields).map { ($0.name, text(of: $0.value)) }
  }

  /// The text of a value if it may be one of few values; `nil` otherwise.
  private static func text(of value: Value) -> String? {
    switch value {
    case .string(let text) where !text.isEmpty && text.utf8.count <= longestValue: text
    case .boolean(let flag): flag ? "true" : "false"
    default: nil
    }
  }

  private mutating func count(_ value: String?, of name: String, by step: Int) {
    guard !excluded.contains(name) else { return }
    guard let value else { return exclude(name) }
    guard fields[name] != nil || fields.count < Self.mostFields else { return }
    let count = fields[name, default: Field()].counts[value, default: 0] + step
    fields[name, default: Field()].counts[value] = count > 0 ? count : nil
    if fields[name].map({ $0.counts.count > Self.mostValues }) ?? false { exclude(name) }
  }

  private mutating func exclude(_ name: String) {
    excluded.insert(name)
    fields[name] = nil
    if chosen == name { chosen = nil }
  }

  /// Chooses the field to show. The field remains chosen while it has few values and no other field changes much more
  /// often.
  package mutating func choose() {
    let able = fields.filter { isAble($0.value) }
    if let chosen, let present = able[chosen], !able.contains(where: { $0.value.changes > 2 * present.changes + 2 }) {
      return
    }
    chosen =
      able.sorted { left, right in
        if left.value.changes != right.value.changes { return left.value.changes > right.value.changes }
        if left.value.counts.count != right.value.counts.count {
          return left.value.counts.count > right.value.counts.count
        }
        return left.key.compareUTF8(right.key) == .ascending
      }.first?.key
  }

  /// Whether most documents have the field, and its values recur.
  private func isAble(_ field: Field) -> Bool {
    let values = field.counts.count
    let comesAgain = field.counts.values.contains { $0 > 1 }
    return values >= 2 && comesAgain && field.documents * 2 > documents && values <= max(2, documents / 2)
  }

  package var shown: Shown? {
    guard let chosen, let field = fields[chosen] else { return nil }
    let values = field.counts.sorted { $0.key.compareUTF8($1.key) == .ascending }
    return Shown(field: chosen, values: values.map { Count(value: $0.key, documents: $0.value) })
  }
}
