// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// Which fields stand beside the documents of a collection, and how wide: the same for all of them, so that they form
/// columns.
struct DocumentPreview {
  /// Fields that people recognise a document by.
  private static let names = ["name", "title", "status", "text", "message", "label", "displayName", "type"]
  private static let numbers = ["total", "price", "amount", "count", "quantity", "score", "rank"]
  private static let sample = 12
  private static let widest = 20

  private var fields: [String] = []
  private(set) var widths: [Int] = []
  private(set) var idWidth: Int

  init(_ documents: [Document]) {
    let sample = documents.prefix(Self.sample)
    idWidth = min(Self.widest, documents.map { SafeText.columns(of: $0.key.documentID) }.max() ?? 0)
    guard let first = sample.first(where: \.exists)?.data?.fields else { return }
    let text =
      Self.names.first { first[$0] != nil }
      ?? first.entries.first { if case .string = $0.value { true } else { false } }?.name
    let number = Self.numbers.first { first[$0]?.isNumber == true } ?? first.entries.first { $0.value.isNumber }?.name
    fields = [text, number].compactMap(\.self)
    widths = fields.map { name in
      sample.compactMap { $0.data?[FieldPath(name)] }.map { min(12, SafeText.columns(of: ValueText.bare($0))) }.max()
        ?? 0
    }
    // Texts of any length go last and take what is left.
    if fields.count == 2, (widths.first ?? 0) >= 12 {
      fields.reverse()
      widths.reverse()
    }
  }

  /// The document's values for the columns; an absent one is an empty text.
  func values(of document: Document) -> [Value] {
    guard document.exists else { return [] }
    return fields.map { document.data?[FieldPath($0)] ?? .string("") }
  }
}

extension Value {
  var isNumber: Bool {
    switch self {
    case .integer, .double: true
    default: false
    }
  }

  /// How a value of this type looks.
  var role: Role {
    switch self {
    case .null: .jsonNull
    case .boolean: .jsonBool
    case .integer, .double, .geoPoint, .vector: .jsonNumber
    case .timestamp: .jsonTime
    case .serverTimestamp: .flagPending
    case .string: .jsonString
    case .bytes: .textMuted
    case .reference: .jsonRef
    case .array, .map: .jsonPunct
    }
  }
}
