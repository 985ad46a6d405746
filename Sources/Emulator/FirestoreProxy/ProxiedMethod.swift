// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// The method of a request, as far as faults and events need it.
struct ProxiedMethod: Hashable {
  enum Kind: Hashable {
    /// A Listen stream.
    case listen
    /// A Write stream. Its first message contains no writes.
    case writes
    /// A call that writes.
    case commit
    /// A call that reads documents.
    case read
    case other
  }

  /// The name, such as `Commit`. For methods outside google.firestore.v1, this is the path.
  let name: String
  let kind: Kind
  /// Whether the request uses WebChannel.
  let isChannel: Bool

  var lane: FaultLane {
    switch kind {
    case .listen: .watch
    case .writes, .commit: .write
    case .read, .other: .read
    }
  }

  private static let kinds: [String: Kind] = [
    "Listen": .listen, "Write": .writes, "Commit": .commit, "BatchWrite": .commit, "CreateDocument": .commit,
    "UpdateDocument": .commit, "DeleteDocument": .commit, "GetDocument": .read, "ListDocuments": .read,
    "BatchGetDocuments": .read, "RunQuery": .read, "RunAggregationQuery": .read, "ListCollectionIds": .read,
    "PartitionQuery": .read, "ExecutePipeline": .read,
  ]

  /// - Parameters:
  ///   - verb: the HTTP method.
  ///   - path: the path, possibly followed by a query.
  init(_ verb: String, _ path: String) {
    let path = path.prefix { $0 != "?" }
    let parts = path.split(separator: "/")
    if parts.count >= 2, parts[0].hasPrefix("google.firestore.") {
      let name = String(parts[1])
      self.init(name: name, kind: Self.kinds[name] ?? .other, isChannel: parts.count == 3 && parts[2] == "channel")
    } else if let documents = parts.firstIndex(where: { $0.prefix { $0 != ":" } == "documents" }),
      documents == 5
    {
      self.init(rest: verb, parts.last ?? "", depth: parts.count - documents - 1)
    } else {
      self.init(name: String(path), kind: .other, isChannel: false)
    }
  }

  private init(name: String, kind: Kind, isChannel: Bool) {
    (self.name, self.kind, self.isChannel) = (name, kind, isChannel)
  }

  /// The method of a REST request.
  private init(rest verb: String, _ last: Substring, depth: Int) {
    let custom = verb == "POST" ? last.lastIndex(of: ":").map { last[last.index(after: $0)...] } : nil
    let name: String
    switch (verb, custom) {
    case ("POST", "batchGet"): name = "BatchGetDocuments"
    case ("POST", "listCollectionIds"): name = "ListCollectionIds"
    case ("POST", let custom?): name = custom.prefix(1).uppercased() + custom.dropFirst()
    case ("POST", nil): name = "CreateDocument"
    case ("PATCH", _): name = "UpdateDocument"
    case ("DELETE", _): name = "DeleteDocument"
    case ("GET", _): name = depth > 0 && depth.isMultiple(of: 2) ? "GetDocument" : "ListDocuments"
    default: name = verb
    }
    self.init(name: name, kind: Self.kinds[name] ?? .other, isChannel: false)
  }
}
