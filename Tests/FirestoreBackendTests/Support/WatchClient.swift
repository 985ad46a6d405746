// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

/// What a client knows after the messages of one stream, by the rules of PROTOCOL §2.3; complains about messages that
/// no backend may send.
struct WatchClient {
  var documents: [TargetID: [DocumentKey: Document]] = [:]
  var active: Set<TargetID> = []
  var current: Set<TargetID> = []
  var failures: [TargetID: RPCStatus] = [:]
  var filters: [TargetID: ExistenceFilter] = [:]
  var resets = 0
  var readTime: SnapshotVersion?
  var token: ResumeToken?
  var snapshots = 0
  /// Document messages received, per target.
  var told: [TargetID: Int] = [:]
  var log: [String] = []

  mutating func apply(_ change: WatchChange) {
    switch change {
    case .added(let ids):
      log.append("ADD \(ids)")
      for id in ids {
        #expect(active.insert(id).inserted, "one ADD per request")
        documents[id, default: [:]] = documents[id] ?? [:]
      }
    case .removed(let ids, let cause):
      log.append("REMOVE \(ids)\(cause.map { " \($0.code.name)" } ?? "")")
      for id in ids {
        #expect(active.remove(id) != nil)
        current.remove(id)
        failures[id] = cause
        documents[id] = nil
      }
    case .current(let ids, let token):
      log.append("CURRENT \(ids)")
      current.formUnion(ids)
      #expect(token != nil)
    case .reset(let ids, _):
      log.append("RESET \(ids)")
      resets += 1
      for id in ids {
        documents[id] = [:]
        current.remove(id)
      }
    case .token: break
    case .snapshot(let version, let token):
      log.append("SNAPSHOT")
      #expect(readTime.map { $0 <= version } ?? true, "the read time never decreases")
      for document in documents.values.flatMap(\.values) { #expect(document.version ?? version <= version) }
      readTime = version
      self.token = token
      snapshots += 1
    case .document(let document, let updated, let removed):
      log.append("\(document.exists ? "DOC" : "DELETE") \(document.path) +\(updated) -\(removed)")
      #expect(active.isSuperset(of: updated + removed), "a document between ADD and REMOVE only")
      for id in updated { documents[id]?[document.key] = document }
      for id in removed { documents[id]?[document.key] = nil }
      for id in updated + removed { told[id, default: 0] += 1 }
    case .documentRemoved(let key, let removed):
      for id in removed { documents[id]?[key] = nil }
    case .filter(let id, let filter):
      log.append("FILTER \(id) \(filter.count)")
      filters[id] = filter
    }
  }

  func paths(_ id: Int32) -> [String] { (documents[TargetID(id)] ?? [:]).keys.map(\.path.text).sorted() }
}

/// One stream, driven step by step.
struct WatchDriver {
  let backend: LocalBackend
  let session: WatchSessionID
  var client = WatchClient()

  init(_ backend: LocalBackend, in database: DatabaseID = database) async {
    self.backend = backend
    session = await backend.openWatch(in: database).session
  }

  mutating func add(
    _ id: Int32, _ target: Target, resume: WatchTarget.Resume? = nil, expectedCount: Int? = nil
  ) async throws {
    let request = WatchTarget(id: TargetID(id), target: target, resume: resume, expectedCount: expectedCount)
    try await backend.request(.add(request), on: session)
  }

  mutating func remove(_ id: Int32) async throws { try await backend.request(.remove(TargetID(id)), on: session) }

  /// Receives everything there is.
  mutating func receive() async throws {
    var hasMore = true
    while hasMore {
      let delivery = try await backend.take(from: session)
      delivery.changes.forEach { client.apply($0) }
      hasMore = delivery.hasMore
    }
  }

  /// Receives one step.
  /// - Returns: whether there is more.
  mutating func step(upTo bytes: Int) async throws -> Bool {
    let delivery = try await backend.take(from: session, upTo: bytes)
    delivery.changes.forEach { client.apply($0) }
    return delivery.hasMore
  }

  /// Receives everything and returns what was said.
  mutating func messages() async throws -> [String] {
    client.log = []
    try await receive()
    return client.log
  }
}
