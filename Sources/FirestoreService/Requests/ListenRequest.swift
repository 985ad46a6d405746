// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// A `ListenRequest`.
struct ListenRequest {
  enum Change {
    /// With the other documents of a target of several.
    case watch(WatchRequest, others: [DocumentKey] = [])
    /// The target cannot be watched; the stream and its other targets go on.
    case invalid(TargetID, RPCStatus)
  }

  let database: DatabaseID
  private(set) var change: Change

  /// - Throws: for what is wrong with the stream as a whole.
  init(_ bytes: [UInt8]) throws(RPCStatus) {
    var name = ""
    var target: RequestedTarget?
    var removed: Int32?
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: target = try field.target() ?? target
        case 3: removed = try field.integer().map { Int32(truncatingIfNeeded: $0) } ?? removed
        default: break
        }
      }
    }
    // What is asked for has names of its own, and clients may leave the database out of later messages.
    if name.isEmpty, let named = target?.database {
      database = named
    } else {
      database = try ResourceName.database(name)
    }
    if let removed {
      change = .watch(.remove(TargetID(removed)))
    } else if let target {
      if target.id.rawValue < 0 {
        throw RPCStatus(.invalidArgument, "Target id \(target.id) is negative.")
      }
      change = target.change(in: database)
    } else {
      throw RPCStatus(.invalidArgument, "The request neither adds nor removes a target.")
    }
  }

  /// A target id of zero leaves the choice to the server.
  var hasNoTargetID: Bool {
    switch change {
    case .watch(.add(let target), _): target.id.rawValue == 0
    case .invalid(let id, _): id.rawValue == 0
    case .watch(.remove, _): false
    }
  }

  mutating func choose(_ id: TargetID) {
    switch change {
    case .watch(.add(var target), let others):
      target.id = id
      change = .watch(.add(target), others: others)
    case .invalid(_, let status): change = .invalid(id, status)
    case .watch(.remove, _): break
    }
  }
}

/// A `Target` as it came. Faults of the query itself are kept: they concern this target only.
struct RequestedTarget {
  var id = TargetID(0)
  var database: DatabaseID?
  var content: Result<Target, RPCStatus>?
  /// The documents of a target of several but the first.
  var others: [DocumentKey] = []
  var resume: WatchTarget.Resume?
  var expectedCount: Int?

  func change(in database: DatabaseID) -> ListenRequest.Change {
    switch content {
    case nil: return .invalid(id, RPCStatus(.invalidArgument, "The target is neither a query nor documents."))
    case .failure(let status): return .invalid(id, status)
    case .success(let target):
      if let own = self.database, own != database {
        return .invalid(
          id,
          RPCStatus(
            .invalidArgument,
            "The request was for database '\(database.name)' but was attempting to access database '\(own.name)'"))
      }
      return .watch(
        .add(WatchTarget(id: id, target: target, resume: resume, expectedCount: expectedCount)), others: others)
    }
  }
}

extension RequestField {
  mutating func target() throws(RPCStatus) -> RequestedTarget? {
    try message { inner throws(RPCStatus) in
      var target = RequestedTarget()
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 2: if let bytes = try field.bytes() { target.readQuery(bytes) }
        case 3: if let bytes = try field.bytes() { target.readDocuments(bytes) }
        case 4: target.resume = try field.bytes().flatMap { ResumeToken($0) }.map { .token($0) } ?? target.resume
        case 5: target.id = try field.integer().map { TargetID(Int32(truncatingIfNeeded: $0)) } ?? target.id
        case 11: target.resume = try field.timestamp().map { .readTime(SnapshotVersion($0)) } ?? target.resume
        case 12: target.expectedCount = try field.wrappedInteger().map { Int(clamping: $0) } ?? target.expectedCount
        case 13: target.content = .failure(RPCStatus(.invalidArgument, "Pipelines cannot be listened to."))
        default: break
        }
      }
      return target
    }
  }
}

extension RequestedTarget {
  fileprivate mutating func readQuery(_ bytes: [UInt8]) {
    do throws(RPCStatus) {
      var (parent, query) = ("", RequestedQuery?.none)
      try RequestReader.read(bytes) { reader throws(RPCStatus) in
        try reader.fields { number, field throws(RPCStatus) in
          switch number {
          case 1: parent = try field.string() ?? parent
          case 2: query = try field.structuredQuery() ?? query
          default: break
          }
        }
      }
      let (database, path) = try ResourceName.parent(parent)
      self.database = database
      guard let query else { throw RPCStatus(.invalidArgument, "only structured queries are supported") }
      content = .success(try query.served(below: path, in: database).watched())
    } catch { content = .failure(error) }
  }

  fileprivate mutating func readDocuments(_ bytes: [UInt8]) {
    do throws(RPCStatus) {
      var names: [String] = []
      try RequestReader.read(bytes) { reader throws(RPCStatus) in
        try reader.fields { number, field throws(RPCStatus) in
          if number == 2, let name = try field.string() { names.append(name) }
        }
      }
      var (keys, seen) = ([DocumentKey](), Set<DocumentKey>())
      for name in names {
        let (database, key) = try ResourceName.document(name)
        if let other = self.database, other != database {
          throw RPCStatus(.invalidArgument, "A documents target names documents of two databases.")
        }
        self.database = database
        if seen.insert(key).inserted { keys.append(key) }
      }
      guard let first = keys.first else { throw RPCStatus(.invalidArgument, "A documents target names no document.") }
      others = Array(keys.dropFirst())
      content = .success(
        Target(
          path: first.path, filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil, end: nil))
    } catch { content = .failure(error) }
  }
}

extension ServedQuery {
  /// - Throws: for what only one-time reads may ask for (PROTOCOL §2.6).
  fileprivate func watched() throws(RPCStatus) -> Target {
    func refused(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }
    if scope != .target { throw refused("All-collection queries are not supported by real-time queries.") }
    if target.collectionGroup != nil, !target.path.isRoot {
      throw refused(
        "'all_descendants' in CollectionSelector with document parent is not supported by real-time queries.")
    }
    if offset > 0 { throw refused("'offset' is not supported by real-time queries.") }
    if nearest != nil { throw refused("'find_nearest' is not supported by real-time queries.") }
    if projection != nil { throw refused("'select' is not supported by real-time queries.") }
    return target
  }
}
