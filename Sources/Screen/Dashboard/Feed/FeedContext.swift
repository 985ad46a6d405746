// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The fields of a row's document besides those that its summary tells, for screens that are wide enough.
package struct FeedContext {
  private static let mostFields = 12

  private let interests: [ResourcePath: FieldInterest]
  private let glyphs: Glyphs

  package init(_ state: DashboardState, _ rows: [FeedRow]) {
    let collections = Set(rows.compactMap { $0.document == nil ? nil : $0.key?.collection })
    interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, state.interest(in: $0)) })
    glyphs = state.configuration.glyphs
  }

  /// `user "ada" · total 42.0`: the fields as the change left them, the most telling ones first.
  /// - Parameter room: the columns for it: arrays and maps are opened while all has room.
  package func text(of row: FeedRow, room: Int) -> String {
    guard let document = row.document, row.kind == .added || row.kind == .modified,
      let interest = interests[document.key.collection], let fields = document.data?.fields, fields.count > 1
    else { return "" }
    let told = " " + row.summary
    let rest = interest.sorted(fields).filter { field in
      field.value.isTelling && !told.contains(" \(field.name) ") && !told.contains("+\(field.name) ")
    }
    var parts = rest.prefix(Self.mostFields).map { "\($0.name) \(ValueText.short($0.value))" }
    var left = room - parts.reduce(0) { $0 + SafeText.columns(of: $1) + 3 }
    for (index, field) in rest.prefix(Self.mostFields).enumerated() where left > 0 {
      let before = SafeText.columns(of: parts[index])
      let open = "\(field.name) \(ValueText.open(field.value, limit: left))"
      let more = SafeText.columns(of: open) - before
      guard more <= left else { continue }
      parts[index] = open
      left -= more
    }
    return parts.joined(separator: " \(glyphs.bullet) ")
  }
}

extension Value {
  /// Whether the value says something beside others: not one that is empty, nor a time.
  fileprivate var isTelling: Bool {
    switch self {
    case .null, .timestamp, .serverTimestamp: false
    case .map(let fields): !fields.isEmpty
    case .array(let values): !values.isEmpty
    default: true
    }
  }
}
