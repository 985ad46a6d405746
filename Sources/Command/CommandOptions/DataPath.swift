// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel

/// Paths of documents and collections as arguments. Consoles write them with a slash before, shells complete them with
/// one after; both are taken, as the SDKs do.
package enum DataPath {
  private static func trimmed(_ text: String) throws(CommandFailure) -> String {
    if text == "/" {
      throw CommandFailure(
        .usage,
        "/ is the whole database, and this needs a collection or a document. 'hearth ls' lists the collections, "
          + "'hearth stats' counts their documents, 'hearth export /' prints all of them.")
    }
    var path = text[...]
    if path.utf8.count > 1, path.utf8.first == UInt8(ascii: "/") { path.removeFirst() }
    if path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return String(path)
  }

  package static func any(_ text: String) throws(CommandFailure) -> ResourcePath {
    let text = try trimmed(text)
    do throws(ModelError) {
      return try ResourcePath(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  /// - Parameter text: `nil`, or a slash alone, for the whole database.
  package static func orRoot(_ text: String?) throws(CommandFailure) -> ResourcePath {
    guard let text, text != "/" else { return .root }
    return try any(text)
  }

  package static func document(_ text: String) throws(CommandFailure) -> DocumentKey {
    let text = try trimmed(text)
    do throws(ModelError) {
      return try DocumentKey(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  package static func collection(_ text: String) throws(CommandFailure) -> ResourcePath {
    let path = try any(text)
    guard path.isCollection else {
      throw CommandFailure(.usage, "\"\(text)\" names a document. A collection path has an odd number of segments.")
    }
    return path
  }
}
