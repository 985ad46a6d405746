// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreJSON
package import FirestoreModel
package import FirestoreText

/// The type of the cells of a column.
package enum ColumnType: String, CaseIterable, Hashable, Codable, Sendable {
  case string, integer, double, boolean, timestamp, ref, bytes, geo, vector, json

  /// The narrowest type that fits all cells; strings if there are none.
  static func guess(_ cells: some Sequence<String>) -> ColumnType {
    var candidates: [ColumnType] = [.boolean, .integer, .double, .timestamp, .json]
    var (isEmpty, hasNull) = (true, false)
    for cell in cells {
      if cell == "null" {
        hasNull = true
        continue
      }
      isEmpty = false
      candidates.removeAll { !$0.fits(cell) }
      if candidates.isEmpty { break }
    }
    if isEmpty { return hasNull ? .json : .string }
    return candidates.first ?? .string
  }

  /// Whether a cell is more likely of this type than a text.
  private func fits(_ cell: String) -> Bool {
    switch self {
    case .boolean: cell == "true" || cell == "false"
    case .integer: Self.isNumber(cell) && Int64(cell) != nil
    case .double: Self.isNumber(cell) && Double(cell) != nil && (Int64(cell) != nil || !Self.isWhole(cell))
    case .timestamp: Timestamp(rfc3339: cell) != nil
    // Text that cannot be parsed is no JSON: that is the question.
    case .json: (cell.hasPrefix("{") || cell.hasPrefix("[")) && (try? JSONSyntax(parsing: cell)) != nil
    case .string, .ref, .bytes, .geo, .vector: false
    }
  }

  /// Whether a cell has only digits: a double would not keep those that 64 bits do not hold.
  private static func isWhole(_ cell: String) -> Bool { cell.utf8.allSatisfy { "-0123456789".utf8.contains($0) } }

  /// Whether a cell is a number in JSON's spelling; a leading zero or plus marks a code, such as a telephone number.
  private static func isNumber(_ cell: String) -> Bool {
    cell.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil
  }

  /// - Returns: the cell as JSON; `nil` for an empty one that is no text.
  /// - Throws: `TextError` if the cell is not of this type.
  package func syntax(_ cell: String, isQuoted: Bool, in database: DatabaseID) throws(TextError) -> JSONSyntax? {
    if cell.isEmpty { return self == .string && isQuoted ? JSONSyntax(.string("")) : nil }
    if self == .string { return JSONSyntax(.string(cell)) }
    if cell == "null" { return JSONSyntax(.null) }
    let syntax: JSONSyntax
    switch self {
    case .boolean:
      guard let flag = ["true": true, "false": false][cell.lowercased()] else { throw misfit(cell) }
      return JSONSyntax(.boolean(flag))
    case .json:
      do throws(JSONError) { syntax = try JSONSyntax(parsing: cell) } catch { throw TextError(error.reason) }
      return syntax
    case .integer, .double, .timestamp, .ref, .bytes, .geo, .vector, .string:
      // The error would name a type before a text, which no cell has.
      guard let typed = try? TypedLiteral.syntax("\(rawValue):\(cell)") else { throw misfit(cell) }
      syntax = typed
    }
    // The value must be valid in a document; the place of an error in it would mean nothing in the file.
    do throws(JSONError) {
      _ = try DocumentJSON.parseValue(syntax.lineText, database: database)
    } catch {
      throw misfit(cell)
    }
    return syntax
  }

  private func misfit(_ cell: String) -> TextError {
    TextError("\(DocumentLine.quoted(String(cell.prefix(40)))) is no \(rawValue).")
  }
}

/// `zip=string,born=timestamp`, as `--types` takes it.
package enum ColumnTypesText {
  package static func parse(_ text: String) throws -> [FieldPath: ColumnType] {
    var types: [FieldPath: ColumnType] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let mark = part.lastIndex(of: "=") else { throw TextError("Expected COLUMN=TYPE,… as in zip=string.") }
      let name = String(part[..<mark].trimming())
      guard let type = ColumnType(rawValue: String(part[part.index(after: mark)...].trimming())) else {
        let known = ColumnType.allCases.map(\.rawValue).joined(separator: ", ")
        throw TextError("\"\(part[part.index(after: mark)...])\" is not a type. Expected one of \(known).")
      }
      do throws(ModelError) { try types[FieldPath(validating: name)] = type } catch {
        throw TextError(error.message)
      }
    }
    return types
  }
}
