// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Paths of documents and collections as arguments.
enum DataPath {
  static func any(_ text: String) throws(CommandFailure) -> ResourcePath {
    do throws(ModelError) {
      return try ResourcePath(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  static func document(_ text: String) throws(CommandFailure) -> DocumentKey {
    do throws(ModelError) {
      return try DocumentKey(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  static func collection(_ text: String) throws(CommandFailure) -> ResourcePath {
    let path = try any(text)
    guard path.isCollection else {
      throw CommandFailure(.usage, "\"\(text)\" names a document. A collection path has an odd number of segments.")
    }
    return path
  }
}
