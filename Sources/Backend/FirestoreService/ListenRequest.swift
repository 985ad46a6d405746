// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// A valid `ListenRequest`.
struct ListenRequest {
  enum Change {
    /// The request, the explicit orderings of its query, and the remaining documents of a target with several
    /// documents.
    case watch(WatchRequest, orderBy: [OrderBy] = [], others: [DocumentKey] = [])
    /// A target that cannot be watched. The stream and its other targets continue.
    case invalid(TargetID, RPCStatus)
  }

  let database: DatabaseID
  let change: Change

  /// - Throws: an error that ends the whole stream.
  init(_ message: ListenMessage) throws(RPCStatus) {
    if case .readTime(let version)? = message.target?.resume { try RequestReader.check(version.timestamp) }
    let target = message.target.map { RequestedTarget($0) }
    // The target names its database too, so clients may omit the database in later messages.
    if message.database.isEmpty, let named = target?.database {
      database = named
    } else {
      database = try ResourceName.database(message.database)
    }
    if let removed = message.removed {
      change = .watch(.remove(removed))
    } else if let target {
      if target.message.id.rawValue < 0 { throw .invalid("Target id \(target.message.id) is negative.") }
      change = target.change(in: database)
    } else {
      throw .invalid("The request neither adds nor removes a target.")
    }
  }
}

/// A target with valid parts. Errors in its query are stored, since they end only this target.
private struct RequestedTarget {
  let message: ListenMessage.Target
  private(set) var database: DatabaseID?
  private var target: Result<Target, RPCStatus>
  /// The documents of a target with several documents, except the first one.
  private var others: [DocumentKey] = []
  private var orderBy: [OrderBy] = []

  init(_ message: ListenMessage.Target) {
    self.message = message
    target = .failure(.invalid("The target is neither a query nor documents."))
    do throws(RPCStatus) {
      switch message.content {
      case .success(.query(let query))?: target = .success(try read(query))
      case .success(.documents(let names))?: target = .success(try read(names))
      case .success(.pipeline)?: throw .invalid("Pipelines cannot be listened to.")
      case .failure(let error)?: throw RequestReader.status(error)
      case nil: break
      }
    } catch { target = .failure(error) }
  }

  private mutating func read(_ query: RunQueryMessage) throws(RPCStatus) -> Target {
    let (database, path) = try ResourceName.parent(query.parent)
    self.database = database
    orderBy = query.query?.explicitOrderings ?? []
    return try ServedQuery(request: query.query, below: path, in: database).watched()
  }

  private mutating func read(_ names: [String]) throws(RPCStatus) -> Target {
    var (keys, seen) = ([DocumentKey](), Set<DocumentKey>())
    for name in names {
      let (database, key) = try ResourceName.document(name)
      if let other = self.database, other != database {
        throw .invalid("A documents target names documents of two databases.")
      }
      self.database = database
      if seen.insert(key).inserted { keys.append(key) }
    }
    guard let first = keys.first else { throw .invalid("A 'documents' target must name at least one document.") }
    others = Array(keys.dropFirst())
    return Target(path: first.path, filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil, end: nil)
  }

  func change(in database: DatabaseID) -> ListenRequest.Change {
    switch target {
    case .failure(let status): return .invalid(message.id, status)
    case .success(let target):
      if let own = self.database, own != database { return .invalid(message.id, .strays(from: database, to: own)) }
      let watched = WatchTarget(
        id: message.id, target: target, resume: message.resume, expectedCount: message.expectedCount)
      return .watch(.add(watched), orderBy: orderBy, others: others)
    }
  }
}

extension ServedQuery {
  /// - Throws: `RPCStatus` for features that only one-time reads may use (PROTOCOL §2.6).
  fileprivate func watched() throws(RPCStatus) -> Target {
    if scope != .target { throw .invalid("All-collection queries are not supported by real-time queries.") }
    if target.collectionGroup != nil, !target.path.isRoot {
      throw .invalid(
        "'all_descendants' in CollectionSelector with document parent is not supported by real-time queries.")
    }
    if offset > 0 { throw .invalid("'offset' is not supported by real-time queries.") }
    if nearest != nil { throw .invalid("'find_nearest' is not supported by real-time queries.") }
    if projection != nil { throw .invalid("'select' is not supported by real-time queries.") }
    return target
  }
}
