// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreModel
import Foundation

/// The text that the user's editor works on: a private file for as long as it is edited.
struct EditorFile {
  private let folder: URL
  private let file: URL

  /// - Throws: if the file cannot be made.
  init(for request: EditRequest) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let name =
      switch request.subject {
      case .document(let key): key.documentID
      case .newDocument(let collection): "new-\(collection.last)"
      case .rejectedWrite(let batch): "write-\(batch.rawValue)"
      }
    // Ids may hold anything but slashes; the editor only needs to recognise the document and the language.
    let safe = String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }.prefix(40))
    file = folder.appending(path: "\(safe).json")
    try Data(request.text.utf8).write(to: file)
  }

  /// `$VISUAL`, else `$EDITOR`, else `vi`, through the shell because these may hold options.
  func command(environment: [String: String]) -> [String] {
    let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self).first { !$0.isEmpty } ?? "vi"
    return ["/bin/sh", "-c", "\(editor) \"$1\"", "hearth", file.path]
  }

  func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

  func remove() {
    // A leftover in the temporary folder does no harm beyond its space.
    try? FileManager.default.removeItem(at: folder)
  }
}
