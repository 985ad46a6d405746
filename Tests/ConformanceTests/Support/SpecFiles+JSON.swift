// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreTesting
import Foundation

extension SpecFiles {
  static func json(_ name: String, in folder: String) throws -> JSONSyntax {
    try JSONSyntax(parsing: String(decoding: try data("\(folder)/\(name).json"), as: UTF8.self))
  }
}
