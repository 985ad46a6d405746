// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// A snapshot or error that a listener got, or should have got (SPEC-FORMAT §7).
package struct SpecEvent: Hashable, Sendable {
  package var query: Query
  /// 0 for a snapshot.
  package var errorCode = 0
  package var isFromCache = false
  package var hasPendingWrites = false
  /// The changed documents by kind, sorted by key.
  package var changes: [DocumentChange.Kind: [SpecDocument]] = [:]

  init(query: Query) { self.query = query }

  init(_ json: JSONSyntax) throws(JSONError) {
    try json.only([
      "query", "errorCode", "fromCache", "hasPendingWrites", "added", "removed", "modified", "metadata",
    ])
    query = try json.member("query").query()
    errorCode = try json["errorCode"]?.integer() ?? 0
    guard errorCode == 0 else { return }
    isFromCache = try json.member("fromCache").boolean()
    hasPendingWrites = try json.member("hasPendingWrites").boolean()
    for (name, kind) in Self.kinds {
      var documents: [SpecDocument] = []
      for document in try json[name]?.elements() ?? [] { documents.append(try SpecDocument(document)) }
      set(kind, documents)
    }
  }

  package static let kinds: [(String, DocumentChange.Kind)] = [
    ("removed", .removed), ("added", .added), ("modified", .modified), ("metadata", .metadata),
  ]

  mutating func set(_ kind: DocumentChange.Kind, _ documents: [SpecDocument]) {
    changes[kind] = documents.isEmpty ? nil : documents.sorted { $0.key < $1.key }
  }
}

extension SpecEvent: CustomStringConvertible {
  package var description: String {
    if errorCode != 0 { return "\(query.canonicalID) error \(errorCode)" }
    let listed = Self.kinds.compactMap { name, kind in
      changes[kind].map { "\(name) [\($0.map(\.description).joined(separator: ", "))]" }
    }
    let flags = (isFromCache ? ["fromCache"] : []) + (hasPendingWrites ? ["hasPendingWrites"] : [])
    return ([query.canonicalID] + flags + listed).joined(separator: " ")
  }
}

/// A target in the request that was last sent for it.
package struct SpecTarget: Hashable, Sendable {
  package var target: Target
  package var purpose: TargetPurpose
  package var resume: WatchTarget.Resume?
  /// The expected count; not compared if the data does not name it.
  package var expectedCount: Int?
}

extension SpecTarget: CustomStringConvertible {
  package var description: String {
    let resumed: String =
      switch resume {
      case nil: "from the start"
      case .token(let token): "token \(String(decoding: token.bytes, as: UTF8.self))"
      case .readTime(let version): "read time \(version.microseconds)"
      }
    return "\(target.canonicalID) \(purpose) \(resumed)"
  }
}

/// The expectations that must hold after a step. `nil` leaves a sticky expectation as it was.
package struct SpecExpectations: Sendable {
  package var events: [SpecEvent] = []
  package var activeTargets: [TargetID: SpecTarget]?
  package var activeLimboDocuments: Set<DocumentKey>?
  package var enqueuedLimboDocuments: Set<DocumentKey>?
  package var outstandingWrites: Int?
  package var writeStreamRequests: Int?
  package var watchStreamRequests: Int?
  package var acknowledged: [DocumentKey] = []
  package var rejected: [DocumentKey] = []
  package var snapshotsInSyncCalls = 0
  package var pendingWritesCalls = 0
  package var isPrimary: Bool?
  package var isShutDown: Bool?
  package var activeClients: Int?
  package var indexes: [FieldIndex]?

  static let names: Set<String> = [
    "expectedSnapshotEvents", "expectedState", "expectedSnapshotsInSyncEvents", "expectedWaitForPendingWritesEvents",
  ]

  init() {}

  mutating func add(_ name: String, _ json: JSONSyntax) throws(JSONError) {
    switch name {
    case "expectedSnapshotEvents": for event in try json.elements() { events.append(try SpecEvent(event)) }
    case "expectedSnapshotsInSyncEvents": snapshotsInSyncCalls = try json.integer()
    case "expectedWaitForPendingWritesEvents": pendingWritesCalls = try json.integer()
    case "expectedState": for member in try json.members() { try addState(member.name, member.value) }
    default: throw json.error("Unknown expectation \"\(name)\".")
    }
  }

  private mutating func addState(_ name: String, _ json: JSONSyntax) throws(JSONError) {
    switch name {
    case "activeTargets": activeTargets = try Self.targets(json)
    case "activeLimboDocs": activeLimboDocuments = Set(try Self.keys(json))
    case "enqueuedLimboDocs": enqueuedLimboDocuments = Set(try Self.keys(json))
    case "numOutstandingWrites": outstandingWrites = try json.integer()
    case "writeStreamRequestCount": writeStreamRequests = try json.integer()
    case "watchStreamRequestCount": watchStreamRequests = try json.integer()
    case "userCallbacks":
      try json.only(["acknowledgedDocs", "rejectedDocs"])
      acknowledged = try Self.keys(try json.member("acknowledgedDocs")).sorted()
      rejected = try Self.keys(try json.member("rejectedDocs")).sorted()
    case "isPrimary": isPrimary = try json.boolean()
    case "isShutdown": isShutDown = try json.boolean()
    case "numActiveClients": activeClients = try json.integer()
    case "indexes":
      var indexes: [FieldIndex] = []
      for index in try json.elements() { indexes.append(try index.expectedIndex()) }
      self.indexes = indexes
    default: throw json.error("Unknown expectation \"\(name)\".")
    }
  }

  private static func keys(_ json: JSONSyntax) throws(JSONError) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    for element in try json.elements() { keys.append(try element.documentKey()) }
    return keys
  }

  private static func targets(_ json: JSONSyntax) throws(JSONError) -> [TargetID: SpecTarget] {
    var targets: [TargetID: SpecTarget] = [:]
    for member in try json.members() {
      guard let id = Int32(member.name) else { throw member.value.error("\"\(member.name)\" is no target id.") }
      try member.value.only(["queries", "resumeToken", "targetPurpose", "readTime", "expectedCount"])
      guard let query = try member.value.member("queries").elements().first else {
        throw member.value.error("A target needs a query.")
      }
      let token = try member.value.member("resumeToken").token()
      let readTime = try member.value["readTime"]?.version()
      targets[TargetID(id)] = SpecTarget(
        target: try query.query().target, purpose: try purpose(member.value["targetPurpose"]),
        resume: token.map { .token($0) } ?? readTime.map { .readTime($0) },
        expectedCount: try member.value["expectedCount"]?.integer())
    }
    return targets
  }

  private static func purpose(_ json: JSONSyntax?) throws(JSONError) -> TargetPurpose {
    guard let json else { return .listen }
    switch try json.string() {
    case "TargetPurposeListen": return .listen
    case "TargetPurposeExistenceFilterMismatch": return .existenceFilterMismatch
    case "TargetPurposeExistenceFilterMismatchBloom": return .existenceFilterMismatchBloom
    case "TargetPurposeLimboResolution": return .limboResolution
    case let other: throw json.error("Unknown target purpose \"\(other)\".")
    }
  }
}
