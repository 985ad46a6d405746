// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery
import FirestoreRemote

extension LocalStore {
  /// Stores a bundle's documents and named queries in one transaction.
  ///
  /// Documents belong to a target of the bundle's own, which keeps them from being collected at once; a named query's
  /// target resumes from the bundle's read time if it has not seen anything newer.
  /// - Returns: the local views of the documents that changed; `nil` if the same or a newer bundle of this id was
  ///   loaded before, which changes nothing.
  package mutating func load(_ bundle: Bundle) throws(LocalStoreError) -> [DocumentKey: Document]? {
    let database = database
    var documents: [DocumentKey: Document] = [:]
    for entry in bundle.entries { documents[entry.document.key] = entry.document }
    let event = RemoteEvent(version: nil, documents: documents)
    var application = RemoteEventApplication(event, localDocuments, activeTargets, eagerCollector)
    let active = activeTargets
    return try database.transaction { () throws(LocalStoreError) -> [DocumentKey: Document]? in
      if let loaded = try database.bundles.createTime(of: bundle.id), loaded >= bundle.createTime { return nil }
      let own = try database.targets.allocate(Self.target(ofBundle: bundle.id), database)
      let changes = try application.perform()
      try database.targets.removeMembers(of: own.id)
      for entry in bundle.entries where entry.document.exists { try database.add(entry.document.key, to: own.id) }
      for query in bundle.queries {
        let members = bundle.entries.filter { $0.document.exists && $0.queries.contains(query.name) }
        try database.store(query, members.map(\.document.key), active)
      }
      try database.bundles.set(bundle.id, bundle.createTime)
      return changes
    }
  }

  /// A query that some loaded bundle named.
  package func namedQuery(_ name: String) throws(LocalStoreError) -> Bundle.NamedQuery? {
    try database.read { () throws(LocalStoreError) in try database.bundles.query(named: name) }
  }

  /// No collection is called like this: names of this form are reserved. The id becomes one segment, whatever is in it.
  private static func target(ofBundle id: String) -> Target {
    let segment = id.map { $0 == "/" ? "%2F" : $0 == "%" ? "%25" : String($0) }.joined()
    return Query(path: ResourcePath("__bundle__/docs").appending(segment)).target
  }
}

extension CacheDatabase {
  fileprivate func add(_ key: DocumentKey, to target: TargetID) throws(LocalStoreError) {
    guard let collection = try collections.number(of: key.collection),
      let header = try documents.header(collection, key.documentID)
    else { return }
    try targets.add(header.number, to: target)
  }

  /// - Parameter active: targets that are listened to; those know better than the bundle.
  fileprivate func store(
    _ query: Bundle.NamedQuery, _ members: [DocumentKey], _ active: [TargetID: LocalStore.ActiveTarget]
  ) throws(LocalStoreError) {
    try bundles.set(query)
    var data = try targets.allocate(query.query.target, self)
    if active[data.id] != nil { return }
    if let known = data.snapshotVersion, known >= query.readTime { return }
    data.resumeToken = nil
    data.snapshotVersion = query.readTime
    try targets.set(data)
    try targets.removeMembers(of: data.id)
    for key in members { try add(key, to: data.id) }
  }
}
