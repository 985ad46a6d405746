// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The action of a step (SPEC-FORMAT §6).
package enum SpecAction: Sendable {
  case listen(Query, TargetID, cacheOnly: Bool)
  case unlisten(Query)
  case write(Mutation)
  case addSnapshotsInSyncObserver, removeSnapshotsInSyncObserver
  case waitForPendingWrites
  case loadBundle(String)
  case changeUser(String?)
  /// Messages of the watch stream; the targets of the second list must be active, and end with these messages.
  case watch([WatchChange], ending: [TargetID])
  case closeWatchStream(RPCStatus, runsBackoff: Bool)
  case acknowledgeWrite(SnapshotVersion, keepsInQueue: Bool)
  case failWrite(RPCStatus, keepsInQueue: Bool)
  case setNetwork(enabled: Bool)
  case runTimer(String)
  case restart
  case collectGarbage(threshold: Int64)
  case failStore(Set<StoreAction>)
  case setIndexes([FieldIndex])
  // Actions of tests with several clients on one store (SPEC-FORMAT §11).
  /// No action besides the work that every step begins and ends with.
  case drain
  case shutDown
  case clearStore
  case setVisibility(Bool)
  case becomePrimary
}

extension SpecAction {
  static let names: Set<String> = [
    "userListen", "userUnlisten", "userSet", "userPatch", "userDelete", "addSnapshotsInSyncListener",
    "removeSnapshotsInSyncListener", "waitForPendingWrites", "loadBundle", "setIndexConfiguration", "changeUser",
    "watchAck", "watchCurrent", "watchReset", "watchRemove", "watchEntity", "watchFilter", "watchSnapshot",
    "watchStreamClose", "writeAck", "failWrite", "enableNetwork", "drainQueue", "runTimer", "restart", "shutdown",
    "clearPersistence", "triggerLruGC", "applyClientState", "failDatabase",
  ]

  init(_ name: String, _ json: JSONSyntax) throws(JSONError) {
    switch name {
    case "watchAck", "watchCurrent", "watchReset", "watchRemove", "watchEntity", "watchFilter", "watchSnapshot":
      self = try Self.message(name, json)
    case "userListen":
      try json.only(["targetId", "query", "options"])
      self = .listen(
        try json.member("query").query(), try json.member("targetId").targetID(),
        cacheOnly: try json["options"]?.isCacheOnly() ?? false)
    case "userUnlisten":
      let (id, query) = try json.pair()
      _ = try id.targetID()
      self = .unlisten(try query.query())
    case "userSet":
      let (key, fields) = try json.pair()
      self = .write(Mutation(key: try key.documentKey(), operation: .set(try fields.fields())))
    case "userPatch":
      let (key, fields) = try json.pair()
      self = .write(
        Mutation(key: try key.documentKey(), operation: try fields.patch(), precondition: .exists(true)))
    case "userDelete": self = .write(Mutation(key: try json.documentKey(), operation: .delete))
    case "addSnapshotsInSyncListener": self = try json.mark(.addSnapshotsInSyncObserver)
    case "removeSnapshotsInSyncListener": self = try json.mark(.removeSnapshotsInSyncObserver)
    case "waitForPendingWrites": self = try json.mark(.waitForPendingWrites)
    case "loadBundle": self = .loadBundle(try json.string())
    case "changeUser": self = .changeUser(json.isNull ? nil : try json.string())
    case "watchStreamClose":
      try json.only(["error", "runBackoffTimer"])
      self = .closeWatchStream(
        try json.member("error").status(), runsBackoff: try json.member("runBackoffTimer").boolean())
    case "writeAck":
      try json.only(["version", "keepInQueue"])
      self = .acknowledgeWrite(
        try json.member("version").version(), keepsInQueue: try json["keepInQueue"]?.boolean() ?? false)
    case "failWrite":
      try json.only(["error", "keepInQueue"])
      self = .failWrite(try json.member("error").status(), keepsInQueue: try json["keepInQueue"]?.boolean() ?? false)
    case "enableNetwork": self = .setNetwork(enabled: try json.boolean())
    case "runTimer":
      let name = try json.string()
      guard Self.timers.contains(name) else { throw json.error("Unknown timer \"\(name)\".") }
      self = .runTimer(name)
    case "restart": self = try json.mark(.restart)
    case "triggerLruGC": self = .collectGarbage(threshold: Int64(try json.integer()))
    case "failDatabase": self = try Self.faults(json)
    case "drainQueue": self = try json.mark(.drain)
    case "shutdown": self = try json.mark(.shutDown)
    case "clearPersistence": self = try json.mark(.clearStore)
    case "applyClientState": self = try Self.clientState(json)
    case "setIndexConfiguration": self = .setIndexes(try json.indexes())
    default: throw json.error("Unknown step \"\(name)\".")
    }
  }

  private static let timers: Set<String> = [
    "all", "client_metadata_refresh", "async_queue_retry", "online_state_timeout", "listen_stream_idle",
    "listen_stream_connection_backoff", "write_stream_idle", "write_stream_connection_backoff", "health_check_timeout",
    "lru_garbage_collection", "transaction_retry", "index_backfill",
  ]

  private static func faults(_ json: JSONSyntax) throws(JSONError) -> SpecAction {
    if case .boolean(false) = json.kind { return .failStore([]) }
    var actions: Set<StoreAction> = []
    for name in try json.strings() {
      guard let action = StoreAction(rawValue: name) else { throw json.error("Unknown transaction \"\(name)\".") }
      actions.insert(action)
    }
    return .failStore(actions)
  }

  private static func clientState(_ json: JSONSyntax) throws(JSONError) -> SpecAction {
    try json.only(["visibility", "primary"])
    if let primary = json["primary"] { return try primary.mark(.becomePrimary) }
    let visibility = try json.member("visibility")
    switch try visibility.string() {
    case "visible": return .setVisibility(true)
    case "hidden": return .setVisibility(false)
    case let other: throw visibility.error("Unknown visibility \"\(other)\".")
    }
  }

  private static func message(_ name: String, _ json: JSONSyntax) throws(JSONError) -> SpecAction {
    switch name {
    case "watchAck": return .watch([.added(try json.targetIDs())], ending: [])
    case "watchCurrent":
      let (ids, token) = try json.pair()
      return .watch([.current(try ids.targetIDs(), try token.token())], ending: [])
    case "watchReset": return .watch([.reset(try json.targetIDs(), nil)], ending: [])
    case "watchRemove":
      try json.only(["targetIds", "cause"])
      let ids = try json.member("targetIds").targetIDs()
      let cause = try json["cause"]?.status()
      return .watch([.removed(ids, cause: cause)], ending: cause == nil ? [] : ids)
    case "watchFilter":
      try json.only(["targetIds", "keys", "bloomFilter"])
      let ids = try json.member("targetIds").targetIDs()
      guard ids.count == 1 else { throw json.error("An existence filter is about one target.") }
      let filter = ExistenceFilter(
        count: try json.member("keys").elements().count, unchangedNames: try json["bloomFilter"]?.bloomFilter())
      for key in try json.member("keys").elements() { _ = try key.documentKey() }
      return .watch([.filter(ids[0], filter)], ending: [])
    case "watchSnapshot":
      try json.only(["version", "targetIds", "resumeToken"])
      let ids = try json.member("targetIds").targetIDs()
      let token = try json["resumeToken"]?.token()
      if !ids.isEmpty { return .watch([.token(ids, token)], ending: []) }
      return .watch([.snapshot(try json.member("version").version(), token)], ending: [])
    default: return .watch(try entity(json), ending: [])
    }
  }

  private static func entity(_ json: JSONSyntax) throws(JSONError) -> [WatchChange] {
    try json.only(["docs", "doc", "key", "targets", "removedTargets"])
    let targets = try json["targets"]?.targetIDs() ?? []
    let removed = try json["removedTargets"]?.targetIDs() ?? []
    guard ["docs", "doc", "key"].count(where: { json[$0] != nil }) == 1 else {
      throw json.error("Expected one of \"docs\", \"doc\" and \"key\".")
    }
    if let key = json["key"] { return [.documentRemoved(try key.documentKey(), removed: removed)] }
    var changes: [WatchChange] = []
    let documents = if let documents = json["docs"] { try documents.elements() } else { [try json.member("doc")] }
    for document in documents {
      let received = try SpecDocument(document).asReceived
      // A deleted document leaves the targets it is listed for.
      let isFound = received.exists
      changes.append(
        .document(received, updated: isFound ? targets : [], removed: isFound ? removed : removed + targets))
    }
    return changes
  }
}

extension JSONSyntax {
  /// Returns the action of a step whose value in the file is just `true`.
  fileprivate func mark(_ action: SpecAction) throws(JSONError) -> SpecAction {
    guard try boolean() else { throw error("Expected true.") }
    return action
  }

  /// Reads a listener's options. Metadata changes are always included, and neither reference runner obeys
  /// `waitForSyncWhenOnline`.
  fileprivate func isCacheOnly() throws(JSONError) -> Bool {
    try only(["source", "includeMetadataChanges", "waitForSyncWhenOnline"])
    guard try self["includeMetadataChanges"]?.boolean() ?? true else {
      throw error("Listeners always include metadata changes.")
    }
    _ = try self["waitForSyncWhenOnline"]?.boolean()
    switch try self["source"]?.string() ?? "default" {
    case "default": return false
    case "cache": return true
    case let other: throw error("Unknown source \"\(other)\".")
    }
  }
}
