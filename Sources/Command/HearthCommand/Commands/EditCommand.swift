// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import DashboardModel
import DataCommands
import Dispatch
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import Foundation

/// `hearth edit`: edits a document in the user's editor.
struct EditCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Edit a document in $EDITOR, and write the changes.",
    discussion: """
      Shows the document as JSON, as 'hearth get' prints it. When the editor ends, only your changes are written: \
      fields that other clients change in the meantime keep their new values. A document that does not exist is created.

      The editor is $VISUAL, else $EDITOR, else vi. If the text is invalid, you can edit it again at a terminal. If \
      the text cannot be written, it is kept in a file that a message names.

      Exit status: 0, also if nothing was changed; 6 if other clients changed the same fields; 65 if the text is not a \
      document; 1 if the editor failed.
      """)

  @Argument(help: "Path of the document, such as cities/SF.")
  var path: String

  @OptionGroup var writing: WritingOptions

  var storage: StorageOptions { writing.storage }

  mutating func run() async throws {
    try await DocumentEditing(key: try DataPath.document(path), writing: writing).run()
  }
}

/// A run of `hearth edit`.
private struct DocumentEditing: Sendable {
  let key: DocumentKey
  let writing: WritingOptions

  private var database: DatabaseID { writing.database }
  private var path: String { key.path.text }

  func run() async throws {
    let editor = UserEditor(environment: ProcessInfo.processInfo.environment)
    if let refusal = editor.refusal(isTerminal: UserEditor.hasTerminal) { throw CommandFailure(.usage, refusal) }
    let connection = try writing.connect()
    let before = try await read(connection)
    let text = before.map { DocumentJSON.text(of: $0.data?.fields ?? Fields(), relativeTo: database) + "\n" }
    let request =
      text.map { EditRequest(.document(key), text: $0) } ?? EditRequest(.documentToCreate(key), text: "{\n}\n")
    if before == nil { writing.headless.note("\(path) does not exist. It is created when you save fields.") }
    let file = try EditorFile(for: request, below: Paths.ofProcess.state)
    do {
      let (edited, mutations) = try await edit(file, request, with: editor)
      if mutations.isEmpty {
        writing.headless.note("nothing was changed.")
      } else {
        try await write(mutations, over: before, edited, of: request, at: connection)
      }
      file.remove()
    } catch {
      let kept = " Your text is in \(Paths.ofProcess.short(file.path))."
      switch error {
      case let failure as CommandFailure: throw CommandFailure(failure.status, failure.message + kept)
      case let status as RPCStatus: throw CommandFailure(ExitStatus(status), "\(path): \(status)\(kept)")
      default: throw error
      }
    }
  }

  // MARK: The editor

  /// Opens the editor again until the text is valid.
  private func edit(
    _ file: EditorFile, _ request: EditRequest, with editor: UserEditor
  ) async throws -> (String, [Mutation]) {
    while true {
      try await Self.run(editor, on: file.path)
      let text = try DocumentArgument.text(ofFile: file.path)
      do throws(JSONError) {
        let mutations = try DocumentEdit.mutations(
          for: request, edited: text, database: database, newID: { key.documentID })
        return (text, mutations)
      } catch {
        if Consent.confirms("\(path), \(error) Edit it again?") == true { continue }
        throw CommandFailure(.badData, "\(path), \(error) Nothing was written.")
      }
    }
  }

  /// Runs the editor. An interrupt is for the editor and does not end this process.
  private static func run(_ editor: UserEditor, on path: String) async throws {
    let interruptions = Surroundings.current.interruptions()
    let words = editor.command(for: path)
    let result = await withCheckedContinuation { continuation in
      // Waiting for the editor can take any time.
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(CommandFailure) in try SystemCommand.run(words) })
      }
    }
    withExtendedLifetime(interruptions) {}
    if let reason = editor.failure(try result.get()) { throw CommandFailure(.failure, reason) }
  }

  // MARK: The server

  private func read(_ connection: BackendConnection) async throws -> Document? {
    try await writing.timeLimit.limit {
      try await connection.datastore.lookup([key]).first.flatMap { $0.exists ? $0 : nil }
    }
  }

  /// The maximum number of attempts to write if other clients change other fields.
  private static let largestTries = 10

  /// Writes an edit. Changes by other clients remain, and the write fails if they changed the same fields.
  private func write(
    _ mutations: [Mutation], over before: Document?, _ edited: String, of request: EditRequest,
    at connection: BackendConnection
  ) async throws {
    for mutation in mutations {
      var mutation = mutation
      if let version = before?.version { mutation.precondition = .updateTime(version) }
      for _ in 0..<Self.largestTries {
        do {
          return try await writing.commit(mutation)
        } catch let failure as CommandFailure where [.changed, .notFound].contains(failure.status) {
          mutation.precondition = try await rebased(mutations, edited, of: request, at: connection)
        }
      }
      throw CommandFailure(.changed, "\(path) changes too often; nothing was written.")
    }
  }

  /// - Returns: the precondition that the document does not change before the write.
  /// - Throws: `changed` if other clients changed the same fields or deleted the document.
  private func rebased(
    _ mutations: [Mutation], _ edited: String, of request: EditRequest, at connection: BackendConnection
  ) async throws -> Precondition {
    guard let now = try await read(connection), let version = now.version else {
      throw CommandFailure(.changed, "\(path) was deleted in the meantime; nothing was written.")
    }
    switch try DocumentEdit.status(of: request, edited: edited, mutations, now: now, database: database) {
    case .alone: break
    case .beside(let others): writing.headless.note(ShownText(DocumentEdit.notice(about: others)))
    case .conflict(let conflict):
      let names = conflict.fields.filter { $0.theirs != $0.base }.map(\.path.canonicalText).joined(separator: ", ")
      throw CommandFailure(.changed, "\(path): other clients also changed \(names); nothing was written.")
    }
    return .updateTime(version)
  }
}
