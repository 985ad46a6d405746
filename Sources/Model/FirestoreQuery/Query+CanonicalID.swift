// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Query {
  /// A stable text, the same for equal queries, by which events are ordered and caches named.
  package var canonicalID: String { target.canonicalID + (limitType == .last ? "|last" : "") }
}

extension Target {
  /// A stable text, one per target, which is its key in caches.
  package var canonicalID: String {
    var text = Self.escaped(path.text)
    if let collectionGroup { text += "|group:" + Self.escaped(collectionGroup) }
    if !filters.isEmpty { text += "|where:" + filters.map(\.canonicalText).joined(separator: ",") }
    text += "|order:"
    text += orderBy.map { order in
      order.path.canonicalText + (order.direction == .ascending ? " asc" : " desc")
    }
    .joined(separator: ",")
    if let limit { text += "|limit:\(limit)" }
    if let start { text += "|start\(start.isInclusive ? "At" : "After"):" + start.values.canonicalText }
    if let end { text += "|end\(end.isInclusive ? "At" : "Before"):" + end.values.canonicalText }
    return text
  }
}

extension Target {
  /// Escapes the bar that separates the parts, since ids may hold it.
  private static func escaped(_ text: String) -> String {
    if !text.utf8.contains(where: { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: "\\") }) { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar == "|" || scalar == "\\" { escaped += "\\" }
      escaped.unicodeScalars.append(scalar)
    }
    return escaped
  }
}

extension Filter {
  fileprivate var canonicalText: String {
    switch self {
    case .field(let filter): filter.path.canonicalText + " \(filter.op.rawValue) " + [filter.value].canonicalText
    case .and(let filters): "and(" + filters.map(\.canonicalText).joined(separator: ",") + ")"
    case .or(let filters): "or(" + filters.map(\.canonicalText).joined(separator: ",") + ")"
    }
  }
}

extension [Value] {
  /// The wire bytes in hexadecimal: exact for every type.
  fileprivate var canonicalText: String {
    Hexadecimal.text(WireWriter.message { writer in for value in self { writer.field(1) { $0.value(value) } } })
  }
}
