// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreRules
import FirestoreService
import ServiceTesting
import Testing

@testable import FirestoreAccess

/// A client of one caller: what it holds after the messages of its streams, of which each was held against what the caller
/// may get at that very moment.
struct Listener {
  static let names = DocumentNames(DatabaseID(project: "p"))

  let caller: FirestoreService
  /// What its streams must have: its targets, each of one document or a query.
  let wishes: [TargetID: WatchTarget]
  /// As of the last snapshot.
  private(set) var documents: [TargetID: [DocumentKey: Document]] = [:]
  private(set) var failed: Set<TargetID> = []
  /// What was said, one line a message.
  private(set) var log: [String] = []
  /// Messages that carry a document's contents.
  private(set) var contents = 0
  private(set) var resets = 0
  private var token: ResumeToken?
  private var stream: ListenStream?
  /// Holds since the last snapshot.
  private var working: [TargetID: [DocumentKey: Document]] = [:]
  private(set) var hasMore = false

  init(_ caller: FirestoreService, _ wishes: [WatchTarget]) {
    self.caller = caller
    self.wishes = Dictionary(uniqueKeysWithValues: wishes.map { ($0.id, $0) })
  }

  var isConnected: Bool { stream != nil }

  /// Opens a stream that goes on where the last one was.
  /// - Parameter saysCount: how many documents it holds, as SDKs do.
  mutating func connect(saysCount: Bool = true) async throws {
    var listener = self
    (listener.log, listener.failed) = ([], [])
    listener.working = documents
    let opening = listener
    self = try await caller.backend.run { try opening.opened(saysCount: saysCount) }
  }

  private func opened(saysCount: Bool) throws(RPCStatus) -> Listener {
    var listener = self
    var stream = ListenStream(caller) {}
    for id in wishes.keys.sorted() {
      guard var wish = wishes[id] else { continue }
      if let held = documents[id], let token {
        wish.resume = .token(token)
        wish.expectedCount = saysCount ? held.count : nil
      }
      let request = WatchRequest.add(wish)
      try stream.receive(WireWriter.message { $0.watchRequest(request, in: DatabaseID(project: "p")) })
    }
    listener.stream = stream
    return listener
  }

  mutating func disconnect() async {
    guard let stream else { return }
    await caller.backend.run { stream.close() }
    (self.stream, working, hasMore) = (nil, [:], false)
  }

  /// Receives as much as one step gives.
  mutating func receive() async throws {
    let listener = self
    self = try await caller.backend.run { try listener.received() }
  }

  mutating func receiveAll() async throws {
    repeat { try await receive() } while hasMore
  }

  private func received() throws -> Listener {
    var listener = self
    guard var stream else { return self }
    let (messages, hasMore) = try stream.take()
    listener.stream = stream
    listener.hasMore = hasMore
    for bytes in messages {
      let change = try WireReader.read(bytes) { reader throws(WireError) in try reader.watchChange(Self.names) }
      if let change { listener.apply(change) }
    }
    return listener
  }

  private mutating func apply(_ change: WatchChange) {
    switch change {
    case .added(let ids): for id in ids { working[id] = working[id] ?? [:] }
    case .removed(let ids, let cause):
      log.append("REMOVE \(ids) \(cause?.code.name ?? "")")
      for id in ids {
        (working[id], documents[id]) = (nil, nil)
        failed.insert(id)
      }
    case .reset(let ids, _):
      resets += 1
      log.append("RESET \(ids)")
      for id in ids { working[id] = [:] }
    case .document(let document, let updated, let removed):
      log.append("\(document.exists ? "DOC" : "DELETE") \(document.key.path.text) +\(updated) -\(removed)")
      if document.exists {
        contents += 1
        #expect(gettable(document.key) == document.data?.fields, "sent what its caller may not get: \(log.last ?? "")")
      }
      for id in updated { working[id]?[document.key] = document }
      for id in removed { working[id]?[document.key] = nil }
    case .documentRemoved(let key, let removed):
      log.append("GONE \(key.path.text) -\(removed)")
      #expect(gettable(key) == nil, "withheld what its caller may get: \(key)")
      for id in removed { working[id]?[key] = nil }
    case .filter(let id, let filter):
      log.append("FILTER \(id) \(filter.count)")
      #expect(filter.count == working[id]?.count, "a client of \(id) would have to look its documents up")
    case .snapshot(_, let token):
      (documents, self.token) = (working, token)
    case .current, .token: break
    }
  }

  /// What a get by the same caller answers now; `nil` for a refusal, or nothing there.
  private func gettable(_ key: DocumentKey) -> Fields? {
    let request = bytes { $0.field(1, string: root + "/" + key.path.text) }
    guard let answer = try? caller.answerAtOnce(.getDocument, request)?.first else { return nil }
    return (try? Message(answer))?.fields
  }
}

/// A service under rules, and how it is called by whom.
struct RuledService {
  let rules = AccessRules()
  let owner: FirestoreService
  private let service: FirestoreService

  /// - Parameter body: the rules for documents.
  init(_ body: String) throws {
    let text = "rules_version = '2'; service cloud.firestore { match /databases/{database}/documents { \(body) } }"
    let (ruleset, issues) = Ruleset.compile([RulesFile(name: "test.rules", content: text)])
    rules.set(.ruleset(try #require(ruleset, "\(issues)")))
    service = FirestoreService(backend: try makeService().backend, rules: rules)
    owner = try service.serving(as: "Bearer owner")
  }

  func user(_ id: String) throws -> FirestoreService {
    try service.serving(as: TokenTests.token(#"{"sub":"\#(id)"}"#))
  }

  func delete(_ path: String) async throws {
    try await owner.answer(.deleteDocument, bytes { $0.field(1, string: root + "/" + path) })
  }
}

/// A target of a collection's documents of which a field is, or has, a value.
func watched(
  _ id: Int32, _ collection: String, _ field: String? = nil, _ op: FieldFilter.Operator = .equal,
  _ value: Value = .null, orderBy: [OrderBy] = [], limit: Int? = nil
) -> WatchTarget {
  let filters = field.map { [Filter.field(FieldFilter(FieldPath($0), op, value))] } ?? []
  return WatchTarget(
    id: TargetID(id),
    target: Query(path: ResourcePath(collection), filters: filters, explicitOrderBy: orderBy, limit: limit).target)
}
