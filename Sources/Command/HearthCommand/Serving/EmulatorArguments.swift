// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation

/// Translates arguments of the Firebase CLI and of gcloud to arguments of `hearth serve` and `hearth exec`.
struct EmulatorArguments: Hashable, Sendable {
  /// The arguments that the parser accepts.
  private(set) var words: [String] = []
  /// One line for each option that has another name in Hearth. It names the option to use.
  private(set) var remarks: [String] = []

  /// - Parameter arguments: the words after the name of the program.
  /// - Returns: `nil` if the command is not `serve` or `exec`.
  init?(_ arguments: [String]) throws(CommandFailure) {
    guard let command = arguments.first, command == "serve" || command == "exec" else { return nil }
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    words = [command]
    var rest = arguments[1..<end]
    while let word = rest.popFirst() { try read(word, &rest) }
    words += arguments[end...]
    try dropMissingImport()
  }

  private mutating func read(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    var value = parts.count > 1 ? parts[1] : nil
    /// The value after the option's `=`. If there is no `=`, the value is the next word, unless that is an option.
    func next() -> String? {
      if value == nil, let word = rest.first, !word.hasPrefix("-") { value = rest.popFirst() }
      return value
    }
    switch parts[0] {
    case "--only":
      guard let names = next() else { throw CommandFailure(.usage, "--only needs a product, such as firestore.") }
      try readProducts(names)
    case "--import":
      guard let folder = next() else { throw CommandFailure(.usage, "--import needs a folder.") }
      remark("--import is read as --import-data.")
      isFirebaseImport = true
      words.append("--import-data=\(folder)")
    case "--export-on-exit", "--export_on_exit":
      if let folder = next() { words.append("--export-on-exit=\(folder)") } else { exportsToImport = true }
    case "--require-indexes":
      words.append("--require-indexes=\(next() ?? FirebaseProject.fileName)")
    case "--single_project_mode", "--single-project-mode", "--single_project_mode_error",
      "--single-project-mode-error":
      // Scripts write `--single_project_mode true`.
      if value == "true" || rest.first == "true" { if value == nil { rest.removeFirst() } }
      words.append(value == "true" ? parts[0] : word)
    case "--inspect-functions", "--log-verbosity":
      _ = next()
      remark("\(parts[0]) has no effect here.")
    default: words.append(word)
    }
  }

  private var isFirebaseImport = false
  private var exportsToImport = false

  private mutating func readProducts(_ names: String) throws(CommandFailure) {
    let products = names.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    guard products.contains("firestore") else {
      throw CommandFailure(.usage, "--only \(names): Hearth serves only Firestore. Use --only firestore, or remove it.")
    }
    let others = products.filter { $0 != "firestore" }
    if !others.isEmpty { remark("Hearth serves only Firestore. --only also names \(others.joined(separator: ", ")).") }
  }

  /// Exports to the folder of the import if the export option names no folder. If this folder does not exist yet and
  /// the command exports, nothing is imported.
  private mutating func dropMissingImport() throws(CommandFailure) {
    let end = words.firstIndex(of: "--") ?? words.endIndex
    let place = words[..<end].firstIndex { $0.hasPrefix("--import-data") || $0.hasPrefix("--import_data") }
    let folder = place.flatMap { place in
      let parts = words[place].split(separator: "=", maxSplits: 1).map(String.init)
      return parts.count > 1 ? parts[1] : place + 1 < end ? words[place + 1] : nil
    }
    if exportsToImport {
      guard let folder else {
        throw CommandFailure(
          .usage, "--export-on-exit needs a folder. Add one, or add --import-data FOLDER to export to the same folder.")
      }
      words.insert("--export-on-exit=\(folder)", at: end)
    }
    guard isFirebaseImport, let place, let folder, words.contains(where: { $0.hasPrefix("--export-on-exit") }),
      !FileManager.default.fileExists(atPath: folder)
    else { return }
    words.remove(at: place)
    remark("\(folder) does not exist yet. Nothing is imported.")
  }

  private mutating func remark(_ text: String) { if !remarks.contains(text) { remarks.append(text) } }
}
