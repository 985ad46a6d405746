// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import Dashboard
package import DashboardModel
import FirestoreJSON
import FirestoreModel
import FirestoreSharing
import Foundation
import Terminal

/// Texts in the user's editor, and what becomes of them.
extension Session {
  /// Lends the terminal to the user's editor; the client goes on meanwhile.
  package func edit(_ request: EditRequest, of client: ClientNumber) {
    guard let reader, editing == nil else { return }
    let data = source?.data
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
        if let failure = editor.failure(status) { apply(.client(.editorGaveUp(failure), at: .now), from: client) }
      } catch {
        apply(.client(.editorGaveUp("The text cannot be handed to an editor: \(error)"), at: .now), from: client)
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
        perform(.resend(batch, as: mutations), of: client)
        return
      }
      switch try await standing(of: request, edited, mutations, client) {
      case .alone: break
      case .beside(let others): notify(.info, DocumentEdit.notice(about: others))
      case .conflict(let conflict): return apply(.client(.editConflict(conflict), at: .now), from: client)
      }
      perform(.write(mutations), of: client)
      switch request.subject {
      case .newDocument, .documentToCreate:
        if let key = mutations.first?.key { apply(.client(.created(key), at: .now), from: client) }
      case .document, .rejectedWrite: break
      }
    } catch {
      var kept = request
      kept.text = edited
      apply(
        .client(.editorFailed(kept, line: error.line, column: error.column, reason: error.reason), at: .now),
        from: client)
    }
  }

  /// Compares an edit with what the cache knows now; a document that it does not know is no obstacle.
  private func standing(
    of request: EditRequest, _ edited: String, _ mutations: [Mutation], _ client: ClientNumber
  ) async throws(JSONError) -> EditStanding {
    guard case .document(let key) = request.subject, let now = await cachedDocument(key, of: client) else {
      return .alone
    }
    return try DocumentEdit.standing(
      of: request, edited: edited, mutations, now: now, database: options.storage.database)
  }
}
