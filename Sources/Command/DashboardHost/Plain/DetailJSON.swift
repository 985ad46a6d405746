// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

/// The open document with all of its tabs, as one JSON object on a line.
enum DetailJSON {
  private typealias Member = JSONSyntax.Member

  static func line(_ detail: Detail, _ state: DashboardState) -> String {
    let database = state.configuration.database
    let document = detail.local ?? detail.remote
    let isFromCache = detail.source.map { $0.isFromCache || state.network.isOffline } ?? true
    let exists = document.flatMap { $0.state == .unknown ? nil : $0.exists }
    return SessionLines.line(
      "document",
      [
        Member("path", ClientJSON.string(detail.key.path.text)),
        Member("exists", exists.map(ClientJSON.boolean) ?? ClientJSON.null),
        Member("fromCache", ClientJSON.boolean(isFromCache)),
        Member("pendingWrites", ClientJSON.boolean(detail.hasPendingWrites)),
        Member("data", document.map { ClientJSON.data($0, database) } ?? ClientJSON.null),
        Member("server", detail.remote.map { ClientJSON.data($0, database) } ?? ClientJSON.null),
        Member("overlay", overlay(detail.overlay, database)),
        Member("conflicts", conflicts(of: detail.key, state)), Member("diff", difference(detail, state)),
        Member("history", ClientJSON.array(state.versions.versions(of: detail.key).map { version($0, database) })),
        Member("meta", meta(detail, document, state)),
      ])
  }

  // MARK: Overlay

  /// The pending writes of the document, combined into one write and in the syntax of typed writes.
  private static func overlay(_ mutation: Mutation?, _ database: DatabaseID) -> JSONSyntax {
    // The text of `WriteJSON` is always valid JSON; `null` is a fallback.
    guard let mutation, let writes = try? JSONSyntax(parsing: WriteJSON.text(of: [mutation], relativeTo: database)),
      case .array(let all) = writes.kind, let write = all.first
    else { return ClientJSON.null }
    return write
  }

  private static func conflicts(of key: DocumentKey, _ state: DashboardState) -> JSONSyntax {
    let database = state.configuration.database
    return ClientJSON.array(
      state.writes.conflicts.filter { $0.key == key }.map { conflict in
        let fields = conflict.fields.map { field in
          ClientJSON.object([
            Member("field", ClientJSON.string(field.path.canonicalText)), Member("saw", value(field.base, database)),
            Member("wrote", value(field.mine, database)), Member("replaced", value(field.theirs, database)),
          ])
        }
        return ClientJSON.object([
          Member("batch", ClientJSON.integer(Int(conflict.batch.rawValue))),
          Member("time", ClientJSON.time(conflict.commitTime.timestamp)), Member("fields", ClientJSON.array(fields)),
        ])
      })
  }

  // MARK: Versions

  private static func difference(_ detail: Detail, _ state: DashboardState) -> JSONSyntax {
    let (older, newer) = DetailContent.comparedVersions(detail, state)
    guard let newer, let changes = DetailContent.changes(from: older, to: newer) else { return ClientJSON.null }
    let database = state.configuration.database
    let fields = changes.map { change in
      ClientJSON.object([
        Member("field", ClientJSON.string(change.path.canonicalText)), Member("old", value(change.old, database)),
        Member("new", value(change.new, database)),
      ])
    }
    return ClientJSON.object([
      Member("from", older.map { ClientJSON.integer($0.id) } ?? ClientJSON.null),
      Member("to", ClientJSON.integer(newer.id)), Member("fields", ClientJSON.array(fields)),
    ])
  }

  private static func version(_ version: VersionHistory.Version, _ database: DatabaseID) -> JSONSyntax {
    func number(_ batch: BatchID?) -> JSONSyntax {
      batch.map { ClientJSON.integer(Int($0.rawValue)) } ?? ClientJSON.null
    }
    return ClientJSON.object([
      Member("number", ClientJSON.integer(version.id)), Member("time", ClientJSON.time(version.time)),
      Member("kind", ClientJSON.string("\(version.kind)")),
      Member("source", ClientJSON.string(version.isLocal ? "local" : "server")),
      Member("exists", ClientJSON.boolean(version.document.exists)), Member("batch", number(version.batch)),
      Member("acknowledges", number(version.acknowledges)), Member("summary", ClientJSON.string(version.summary)),
      Member("why", version.why.map(ClientJSON.string) ?? ClientJSON.null),
      Member("data", ClientJSON.data(version.document, database)),
    ])
  }

  private static func value(_ value: Value?, _ database: DatabaseID) -> JSONSyntax {
    // The text of `DocumentJSON` is always valid JSON; `null` is a fallback.
    guard let value, let syntax = try? JSONSyntax(parsing: DocumentJSON.line(of: value, relativeTo: database)) else {
      return ClientJSON.null
    }
    return syntax
  }

  // MARK: Meta

  private static func meta(_ detail: Detail, _ document: Document?, _ state: DashboardState) -> JSONSyntax {
    let remote = detail.remote ?? detail.local
    // The version of a missing document is the read time of its absence.
    let updated = remote?.exists == true ? remote?.version : nil
    let listeners = state.listeners.map { listener in
      let membership = Membership(
        listener, detail.key, document, results: state.listening.results(of: listener.tag))
      let reasons = membership.reasons.map { reason in
        ClientJSON.object([
          Member("holds", reason.holds.map(ClientJSON.boolean) ?? ClientJSON.null),
          Member("text", ClientJSON.string(reason.text)),
        ])
      }
      return ClientJSON.object([
        Member("name", ClientJSON.string(listener.name)),
        Member("error", listener.failure.map(ClientJSON.status) ?? ClientJSON.null),
        Member("verdict", ClientJSON.string(listener.failure == nil ? membership.verdict : "ended")),
        Member("reasons", ClientJSON.array(listener.failure == nil ? reasons : [])),
      ])
    }
    let batch = state.writes.batch(touching: detail.key)
    return ClientJSON.object([
      // The full version, as --if-unchanged-since accepts it.
      Member("created", remote?.createTime.map { ClientJSON.string($0.timestamp.rfc3339Text) } ?? ClientJSON.null),
      Member("updated", updated.map { ClientJSON.string($0.timestamp.rfc3339Text) } ?? ClientJSON.null),
      Member("bytes", document?.data.map { ClientJSON.integer($0.encoded.bytes.count) } ?? ClientJSON.null),
      Member("fields", document?.data.map { ClientJSON.integer($0.fields.count) } ?? ClientJSON.null),
      Member("newestBatch", batch.map { ClientJSON.integer(Int($0.rawValue)) } ?? ClientJSON.null),
      Member("listeners", ClientJSON.array(listeners)),
    ])
  }
}
