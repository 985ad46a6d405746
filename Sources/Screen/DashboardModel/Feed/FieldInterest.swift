// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// The order in which the fields of a document are worth telling: those that the tree shows beside the documents of its
/// collection first, and last the times that a write sets to its own.
package struct FieldInterest: Sendable {
  /// The seconds within which a time counts as that of the write.
  private static let nearness: Int64 = 10
  /// The number of fields that describe a new document.
  private static let headlineFields = 4

  private let ranks: [String: Int]
  private let telling: [String]

  package init(_ statistics: FieldStatistics, picked: [String]?) {
    let first = picked ?? []
    let all = first + statistics.byInterest.filter { !first.contains($0) }
    ranks = Dictionary(all.enumerated().map { ($1, $0) }, uniquingKeysWith: { rank, _ in rank })
    telling = first + statistics.worthColumns.filter { !first.contains($0) }
  }

  /// The changes, the most important ones first.
  package func sorted(_ changes: [FieldChange], of document: Document) -> [FieldChange] {
    let ranked = changes.map { ($0, rank(of: $0, in: document)) }
    return ranked.enumerated().sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
  }

  /// The fields, the most telling ones first.
  package func sorted(_ fields: Fields) -> [(name: String, value: Value)] {
    let ranked = fields.entries.enumerated().map { ($1, rank: ranks[$1.name] ?? ranks.count + 1, offset: $0) }
    return ranked.sorted { ($0.rank, $0.offset) < ($1.rank, $1.offset) }.map { ($0.0.name, $0.0.value) }
  }

  /// Names of fields, the most telling ones first.
  func sorted(_ names: [String]) -> [String] {
    names.sorted { left, right in
      let (first, second) = (ranks[left] ?? ranks.count, ranks[right] ?? ranks.count)
      return first == second ? left.compareUTF8(right) == .ascending : first < second
    }
  }

  private func rank(of change: FieldChange, in document: Document) -> Int {
    let last = ranks.count + 1
    if Self.isWriteTime(change.new, of: document) { return last * 2 }
    return ranks[change.path.first] ?? last
  }

  /// Whether a value is the time at which the document was written.
  static func isWriteTime(_ value: Value?, of document: Document) -> Bool {
    switch value {
    case .serverTimestamp?: return true
    case .timestamp(let time)?:
      guard let written = document.version?.timestamp else { return false }
      return max(time, written).wholeSeconds(since: min(time, written)) < nearness
    default: return false
    }
  }

  /// The changes on one line: `status "paid"→"packed" · updatedAt set`.
  package func text(of changes: [FieldChange], in document: Document, _ glyphs: Glyphs, limit: Int) -> String {
    let sorted = sorted(changes, of: document)
    let shown = sorted.prefix(limit).map { change in
      guard case .timestamp? = change.new, Self.isWriteTime(change.new, of: document) else {
        return change.text(arrow: glyphs.arrow)
      }
      return "\(change.path.segments.joined(separator: ".")) set"
    }.joined(separator: " \(glyphs.bullet) ")
    return sorted.count > limit ? shown + " \(glyphs.bullet) \(sorted.count - limit) more" : shown
  }

  /// The fields that describe a new document: `status "new" · total 99.9`.
  func headline(of document: Document, _ glyphs: Glyphs) -> String {
    let fields = document.data?.fields ?? Fields()
    func isTelling(_ name: String) -> Bool { !Self.isWriteTime(fields[name], of: document) }
    let columns = telling.filter { fields[$0] != nil && isTelling($0) }
    // A collection without columns has no fields that tell more than others.
    let told = columns.isEmpty ? sorted(fields).map(\.name).filter(isTelling) : columns
    let names = told.prefix(Self.headlineFields)
    if names.isEmpty { return "\(fields.count) field\(fields.count == 1 ? "" : "s")" }
    return names.compactMap { name in fields[name].map { "\(name) \(ValueText.short($0))" } }
      .joined(separator: " \(glyphs.bullet) ")
  }
}
