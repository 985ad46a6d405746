// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// `field op value`, as `--where` takes it: `state == CA`, `population>=1000`, `tags array-contains big`.
struct FilterText {
  private let text: String
  private let scalars: [Unicode.Scalar]
  private var position = 0

  /// - Parameter query: what is filtered; ids compared with `__name__` are completed to paths below its collection.
  static func parse(_ text: String, of query: Query, database: DatabaseID) throws(ArgumentError) -> FieldFilter {
    var parser = FilterText(text)
    let field = try parser.field()
    let op = try parser.operator()
    let value = try parser.value(of: op, isName: field.isDocumentID, database)
    if !field.isDocumentID { return FieldFilter(field, op, value) }
    return FieldFilter(field, op, try names(value, of: query, database))
  }

  private init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  private var column: Int { position + 1 }

  private func rest() -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[position...])
    return String(view)
  }

  private mutating func skipSpace() {
    while position < scalars.count, scalars[position].properties.isWhitespace { position += 1 }
  }

  private mutating func field() throws(ArgumentError) -> FieldPath {
    skipSpace()
    let start = position
    var isQuoted = false
    while position < scalars.count {
      let scalar = scalars[position]
      if scalar == "\\", isQuoted { position += 1 } else if scalar == "`" { isQuoted.toggle() }
      if !isQuoted, scalar.properties.isWhitespace || "=!<>".unicodeScalars.contains(scalar) { break }
      position += 1
    }
    position = min(position, scalars.count)
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars[start..<position])
    if name.isEmpty { throw ArgumentError(column: start + 1, "Expected a field, as in 'state == CA'.") }
    return try FieldName.parse(String(name), column: start + 1)
  }

  private mutating func `operator`() throws(ArgumentError) -> FieldFilter.Operator {
    skipSpace()
    let rest = rest()
    // The longer ones first: "<=" begins with "<".
    for op in FieldFilter.Operator.allCases.sorted(by: { $0.rawValue.count > $1.rawValue.count })
    where rest.hasPrefix(op.rawValue) {
      let next = rest.dropFirst(op.rawValue.count).first
      let isWord = op.rawValue.first?.isLetter == true
      if isWord, let next, !next.isWhitespace, next != "[", next != "{", next != "\"" { continue }
      position += op.rawValue.unicodeScalars.count
      return op
    }
    if rest.isEmpty { throw ArgumentError(column: column, "Expected an operator after the field: \(Self.operators).") }
    let found = rest.prefix { !$0.isWhitespace }
    if found.hasPrefix("=") { throw ArgumentError(column: column, "Write == to compare.") }
    throw ArgumentError(column: column, "\"\(found)\" is not an operator. Expected one of \(Self.operators).")
  }

  private static let operators = "==, !=, <, <=, >, >=, in, not-in, array-contains, array-contains-any"

  private mutating func value(
    of op: FieldFilter.Operator, isName: Bool, _ database: DatabaseID
  ) throws(ArgumentError) -> Value {
    skipSpace()
    let rest = rest().trimming()
    if rest.isEmpty {
      throw ArgumentError(column: column, "Expected a value after \(op.rawValue). An empty string is written \"\".")
    }
    switch op {
    case .in, .notIn, .arrayContainsAny:
      return try ValueText.parseList(rest, database: database, column: column, isName: isName)
    default: return try ValueText.parse(rest, database: database, column: column, isName: isName)
    }
  }

  /// Ids, or paths for a collection group, as references.
  private static func names(
    _ value: Value, of query: Query, _ database: DatabaseID
  ) throws(ArgumentError) -> Value {
    switch value {
    case .array(let values):
      var references: [Value] = []
      for value in values { references.append(try names(value, of: query, database)) }
      return .array(references)
    case .reference: return value
    case .string(let id) where query.collectionGroup == nil && !id.utf8.contains(UInt8(ascii: "/")):
      return .reference(database, DocumentKey(unchecked: query.path.appending(id)))
    case .string(let path):
      do throws(ModelError) {
        return .reference(database, try DocumentKey(validating: path))
      } catch {
        throw ArgumentError(error.message)
      }
    default: throw ArgumentError("__name__ is compared with document ids or paths.")
    }
  }
}

/// `field`, `field:asc` or `field:desc`, as `--order` takes it.
enum OrderText {
  static func parse(_ text: String) throws(ArgumentError) -> OrderBy {
    var field = text.trimming()
    var direction = OrderBy.Direction.ascending
    if field.last != "`", let colon = field.lastIndex(of: ":") {
      let word = field[field.index(after: colon)...]
      switch word {
      case "asc": break
      case "desc": direction = .descending
      default:
        let column = field.unicodeScalars.distance(from: field.startIndex, to: colon) + 2
        throw ArgumentError(column: column, "\"\(word)\" is not a direction. Expected asc or desc.")
      }
      field = field[..<colon]
    }
    if let hint = hint(for: String(field)) { throw ArgumentError(column: 1, hint) }
    return OrderBy(try FieldName.parse(String(field)), direction)
  }

  /// What other languages write.
  private static func hint(for field: String) -> String? {
    if let match = field.wholeMatch(of: /([^\s`,]+)\s+(?i)(asc|desc|ascending|descending)/) {
      let isDescending = match.output.2.lowercased().hasPrefix("desc")
      return "The direction stands after a colon: \(match.output.1):\(isDescending ? "desc" : "asc")."
    }
    if field.hasPrefix("-") { return "To reverse the order write \(field.dropFirst()):desc." }
    if !field.contains("`"), field.contains(",") { return "Each field has an order of its own." }
    return nil
  }
}
