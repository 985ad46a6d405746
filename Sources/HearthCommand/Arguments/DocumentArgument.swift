// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import Foundation

/// A document's fields as an argument, or on standard input where the argument is `-`.
enum DocumentArgument {
  typealias Content = (fields: Fields, transforms: [FieldTransform])

  static func read(_ argument: String, database: DatabaseID) throws(CommandFailure) -> Content {
    let text = argument == "-" ? try standardInput() : argument
    do throws(JSONError) {
      return try DocumentJSON.parse(text, database: database)
    } catch {
      throw CommandFailure(.badData, argument == "-" ? "standard input, \(error)" : "the document, \(error)")
    }
  }

  static func standardInput() throws(CommandFailure) -> String {
    let data: Data
    do {
      data = try FileHandle.standardInput.readToEnd() ?? Data()
    } catch {
      throw CommandFailure(.noInput, "standard input cannot be read.")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw CommandFailure(.badData, "standard input is not UTF-8.")
    }
    return text
  }
}
