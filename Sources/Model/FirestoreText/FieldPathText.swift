// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// Parses the path of a field as users type it: `address.city` or `` `first name`.x ``.
///
/// The syntax is stricter than Firestore's: outside of back-quotes, only letters, digits, `_` and `-` are allowed. With
/// Firestore's syntax, many typing errors, such as a missing colon or a second field after a comma, would be valid
/// field names that match nothing.
package enum FieldPathText {
  /// - Parameter column: the column at which the path starts in the typed text.
  package static func parse(_ text: String, column: Int = 1) throws(TextError) -> FieldPath {
    if let (position, found) = stray(in: text) {
      throw TextError(
        column: column + position,
        "\(name(of: found)) is not allowed in a plain field name. Put names with characters other than letters, "
          + "digits, _ and - in back-quotes, such as `first name`.")
    }
    do throws(ModelError) {
      return try FieldPath(validating: text)
    } catch {
      throw TextError(column: column, error.message)
    }
  }

  /// The first scalar that is not allowed outside of back-quotes, with its position.
  private static func stray(in text: String) -> (Int, Unicode.Scalar)? {
    var isQuoted = false
    var isEscaped = false
    for (position, scalar) in text.unicodeScalars.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if scalar == "`" {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = scalar == "\\"
      } else if !belongs(scalar) {
        return (position, scalar)
      }
    }
    return nil
  }

  private static func belongs(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
    default: !scalar.isASCII && !scalar.properties.isWhitespace
    }
  }

  private static func name(of scalar: Unicode.Scalar) -> String {
    scalar.properties.isWhitespace ? "A space" : "\"\(scalar)\""
  }
}

/// Converts values that are compared with a document's name.
package enum DocumentName {
  /// Converts document ids to references. For a collection group, converts document paths to references.
  package static func value(_ value: Value, of query: Query, _ database: DatabaseID) throws(TextError) -> Value {
    switch value {
    case .array(let values):
      var references: [Value] = []
      for element in values { references.append(try self.value(element, of: query, database)) }
      return .array(references)
    case .reference: return value
    case .string(let id) where query.collectionGroup == nil && !id.utf8.contains(UInt8(ascii: "/")):
      return .reference(database, DocumentKey(unchecked: query.path.appending(id)))
    case .string(let path):
      do throws(ModelError) {
        return .reference(database, try DocumentKey(validating: path))
      } catch {
        throw TextError(error.message)
      }
    // An id of digits, which was read as a number.
    case .integer(let number):
      return try self.value(.string("\(number)"), of: query, database)
    default: throw TextError("__name__ can only be compared with document ids or paths.")
    }
  }
}
