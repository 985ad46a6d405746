// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
package import Dashboard
package import DashboardModel
import FirestoreJSON
import FirestoreModel
import FirestoreSharing
import Foundation
import Glibc
import Terminal

/// The user's text editor: `$VISUAL`, otherwise `$EDITOR`, otherwise `vi`.
package struct UserEditor: Hashable, Sendable {
  private let text: String
  /// The variable that names the editor; `nil` for the default editor.
  private let variable: String?

  package init(environment: [String: String]) {
    variable = ["VISUAL", "EDITOR"].first { environment[$0]?.isEmpty == false }
    text = variable.flatMap { environment[$0] } ?? "vi"
  }

  /// Editors that need a terminal. Without a terminal they would wait forever.
  private static let screenEditors: Set<String> = [
    "vi", "vim", "nvim", "view", "nano", "pico", "micro", "hx", "helix", "kak", "joe", "ne", "mcedit",
  ]

  /// The reason why the editor cannot run, and what to do; `nil` if the editor can run.
  /// - Parameter isTerminal: whether input and output are a terminal.
  package func refusal(isTerminal: Bool) -> String? {
    let program = text.split(separator: " ").first?.split(separator: "/").last.map(String.init) ?? text
    guard !isTerminal, Self.screenEditors.contains(program) else { return nil }
    return "The editor \(program) needs a terminal. Set $EDITOR to a program that needs none, or use 'hearth update'."
  }

  /// Whether input and output are a terminal.
  package static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// The command that runs the editor on a file, through the shell because the variables can contain options.
  package func command(for file: String) -> [String] { ["/bin/sh", "-c", "\(text) \"$1\"", "hearth", file] }

  /// The failure for an exit status, with what to do; `nil` for success.
  package func failure(_ status: Int32) -> String? {
    switch status {
    case 0: return nil
    case 126, 127:
      // The shell's exit statuses for a program that cannot be run (126) and for a program that does not exist (127).
      let reason = status == 127 ? "was not found" : "cannot be run"
      guard let variable else {
        return "No editor: neither $VISUAL nor $EDITOR is set, and vi \(reason). Set one of them; nothing was written."
      }
      return "No editor: \(text) from $\(variable) \(reason). Set $VISUAL or $EDITOR; nothing was written."
    default: return "The editor (\(text)) ended with status \(status); nothing was written."
    }
  }
}

/// A file with the text for the user's editor. Only the user may read it. It exists while the text is edited. It is in
/// a folder that is named after this process, so that a later session finds the file if this process is killed.
package struct EditorFile {
  private let folder: String
  /// The path of the file for the editor.
  package let path: String

  /// - Parameter state: the state folder. The texts are in its folder `edits`, or in the system's temporary folder if
  ///   `edits` is not writable.
  /// - Throws: if the file cannot be created.
  package init(for request: EditRequest, below state: String) throws {
    folder = try Self.privateFolder(below: state)
    let name =
      switch request.subject {
      case .document(let key): key.documentID
      case .newDocument(let collection): "new-\(collection.last)"
      case .documentToCreate(let key): key.documentID
      case .rejectedWrite(let batch): "write-\(batch.rawValue)"
      }
    // Ids can contain anything but slashes; the editor only needs to recognize the document and the language.
    let safe = String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }.prefix(40))
    path = "\(folder)/\(safe).json"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(request.text.utf8))
  }

  package func text() throws -> String { try String(contentsOf: URL(filePath: path), encoding: .utf8) }

  package func remove() {
    // A remaining folder only uses space, and is reported at the next start.
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The folders with texts that remain from sessions that have ended.
  package static func abandoned(below state: String) -> [String] {
    let edits = edits(below: state)
    // The folder does not exist before the first edit.
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: edits)) ?? []
    return folders.sorted().compactMap { folder in
      guard let process = pid_t(folder.prefix { $0 != "-" }), kill(process, 0) != 0, errno == ESRCH else { return nil }
      return "\(edits)/\(folder)"
    }
  }

  private static func privateFolder(below state: String) throws -> String {
    let own = "\(getpid())-\(UUID().uuidString.prefix(8))"
    do {
      try make(edits(below: state))
      let folder = "\(edits(below: state))/\(own)"
      try make(folder)
      return folder
    } catch {
      let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(own)").path
      try make(folder)
      return folder
    }
  }

  private static func make(_ folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private static func edits(below state: String) -> String { "\(state)/edits" }
}

/// Editing texts in the user's editor, and handling the results.
extension Session {
  /// Lets the user's editor use the terminal. The client continues to run.
  package func edit(_ request: EditRequest, of client: ClientNumber) {
    guard let reader, editing == nil else { return }
    let data = own?.bridge.data
    editing = Task {
      do {
        let file = try EditorFile(for: request, below: options.paths.state)
        defer { file.remove() }
        let editor = UserEditor(environment: ProcessInfo.processInfo.environment)
        let program = ForegroundProgram(editor.command(for: file.path))
        let status = try await screen.withSuspendedScreen(input: reader) {
          try await program.run(
            on: screen.inputDescriptor, beforeStop: { [weak data] in await data?.handOver() },
            afterStop: { [weak data] in data?.takeUp() })
        }
        adoptSize()
        if status == 0 { await write(try file.text(), for: request, of: client) }
        if let failure = editor.failure(status) { apply(.host(.editorGaveUp(failure), at: .now), from: client) }
      } catch {
        apply(.host(.editorGaveUp("The text cannot be opened in an editor: \(error)"), at: .now), from: client)
      }
      editing = nil
    }
  }

  private func write(_ edited: String, for request: EditRequest, of client: ClientNumber) async {
    do throws(JSONError) {
      let mutations = try DocumentEdit.mutations(
        for: request, edited: edited, database: options.storage.database, newID: { AutomaticID.make() })
      guard !mutations.isEmpty else { return notify(.info, "Nothing was changed.") }
      if case .rejectedWrite(let batch) = request.subject {
        clients[client]?.perform(.resend(batch, as: mutations))
        return
      }
      switch try await status(of: request, edited, mutations, client) {
      case .alone: break
      case .beside(let others): notify(.info, DocumentEdit.notice(about: others))
      case .conflict(let conflict): return apply(.host(.editConflict(conflict), at: .now), from: client)
      }
      clients[client]?.perform(.write(mutations))
      switch request.subject {
      case .newDocument, .documentToCreate:
        if let key = mutations.first?.key { apply(.host(.created(key), at: .now), from: client) }
      case .document, .rejectedWrite: break
      }
    } catch {
      var kept = request
      kept.text = edited
      apply(
        .host(.editorFailed(kept, line: error.line, column: error.column, reason: error.reason), at: .now),
        from: client)
    }
  }

  /// Compares an edit with the cached document. If the document is not cached, the edit is allowed.
  private func status(
    of request: EditRequest, _ edited: String, _ mutations: [Mutation], _ client: ClientNumber
  ) async throws(JSONError) -> EditStatus {
    guard case .document(let key) = request.subject, let now = await clients[client]?.cachedDocument(key) else {
      return .alone
    }
    return try DocumentEdit.status(
      of: request, edited: edited, mutations, now: now, database: options.storage.database)
  }
}
