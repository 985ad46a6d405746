// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

// Steps that change how a client works, and bundles.

extension ScenarioRun {
  func apply(_ setting: ClientSetting, to client: ScenarioClient, _ step: ScenarioStep) async throws {
    do throws(RPCStatus) {
      switch setting {
      case .clock(let time): client.opened.plan.clock.value = time
      case .index(let index):
        let known = try await client.engine.indexes().filter { !$0.isAutomatic }.map(\.definition)
        try await client.engine.setIndexes(known.filter { $0 != index } + [index])
      case .automaticIndexes(let isOn): client.engine.setIndexAutoCreation(isOn)
      case .noIndexes: client.engine.deleteAllIndexes()
      case .evict(let scope): _ = try await client.engine.evict(scope)
      case .load: preconditionFailure("A bundle is the stage's.")
      }
    } catch { throw failure(step, error.message) }
  }

  func load(_ bytes: [UInt8], by client: ScenarioClient, _ step: ScenarioStep) async throws {
    do throws(RPCStatus) { try await client.engine.loadBundle(bytes) } catch { throw failure(step, error.message) }
  }

  /// Makes a bundle at the server's side, as of now.
  func bytes(of bundle: ScenarioBundle, _ step: ScenarioStep) async throws -> [UInt8] {
    do throws(RPCStatus) {
      let now = SnapshotVersion(world.now)
      var writer = BundleWriter(world.database)
      switch bundle.contents {
      case .result(let query):
        try writer.append(Bundle.NamedQuery(name: bundle.name, query: query, readTime: now))
        for document in try await world.server.runQuery(query.target) {
          try writer.append(document, readTime: now, queries: [bundle.name])
        }
      case .documents(let documents, let queries):
        for (name, query) in queries {
          try writer.append(Bundle.NamedQuery(name: name, query: query, readTime: now))
        }
        for (key, fields) in documents {
          let state: Document.State = fields.map { .found(DocumentData($0)) } ?? .missing
          let document = Document(key: key, version: now, state: state)
          try writer.append(
            document, readTime: now, queries: queries.filter { $0.query.matches(document) }.map(\.name))
        }
      }
      return try writer.bytes(id: bundle.name, createTime: now)
    } catch { throw failure(step, error.message) }
  }
}

extension Value {
  /// The value with estimates in place of the times that the server is still to set; `nil` without such times.
  var withEstimates: Value? {
    switch self {
    case .serverTimestamp(let time): return .timestamp(time.localWriteTime)
    case .map(var fields):
      var isEstimated = false
      for entry in fields.entries {
        guard let estimated = entry.value.withEstimates else { continue }
        fields[entry.name] = estimated
        isEstimated = true
      }
      return isEstimated ? .map(fields) : nil
    // Arrays have none.
    default: return nil
    }
  }
}
