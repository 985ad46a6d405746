// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreText

extension FieldText {
  /// The value that a text means where no type was chosen: as in `hearth set`, numbers, `true`, `false`, `null`, times,
  /// JSON and typed texts are themselves, and all else is a string; in quotes everything is.
  package static func value(_ text: String, in database: DatabaseID) throws(FieldTextError) -> Value {
    guard let first = text.unicodeScalars.first else { return .string("") }
    do throws(TextError) {
      let value = try ValueReader(database: database).value(of: text)
      // A string without quotes keeps the blanks around it.
      if case .string = value, first != "\"", first != "'", !isTyped(text) { return .string(text) }
      return value
    } catch {
      guard !"{[\"'".unicodeScalars.contains(first), !isTyped(text), PlainText.otherMeaning(ofWritten: text) == nil
      else { throw FieldTextError(error.reason, at: min(text.count, max(0, (error.column ?? 1) - 1))) }
      return .string(text)
    }
  }

  /// Whether the text begins with a type, as in `string:42`.
  private static func isTyped(_ text: String) -> Bool {
    do throws(TextError) { return try TypedLiteral.syntax(text, column: 1) != nil } catch { return true }
  }
}
