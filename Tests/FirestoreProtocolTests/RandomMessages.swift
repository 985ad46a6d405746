// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom

/// Contents of messages, of every kind and with the edges of each type.
extension SeededGenerator {
  mutating func bytes() -> [UInt8] { list(upTo: 9) { UInt8.random(in: .min ... .max, using: &$0) } }

  mutating func version() -> SnapshotVersion { SnapshotVersion(timestamp()) }

  mutating func path() -> FieldPath { FieldPath(segments: [name()] + list(upTo: 2) { $0.name() }) }

  mutating func ids() -> [TargetID] {
    list(upTo: 3) { TargetID($0.pick([0, 1, 127, 128, 300, .max, -1])) }
  }

  mutating func optional<T>(_ make: (inout SeededGenerator) -> T) -> T? {
    Bool.random(using: &self) ? make(&self) : nil
  }

  mutating func document() -> Document {
    Document(
      key: key(), version: version(), createTime: version(), state: .found(DocumentData(fields(depth: 2))))
  }

  // MARK: Writes

  mutating func mutation() -> Mutation {
    let operation: Mutation.Operation =
      switch Int.random(in: 0..<4, using: &self) {
      case 0: .set(fields(depth: 2))
      case 1: .patch(fields(depth: 2), FieldMask(list(upTo: 3) { $0.path() }))
      case 2: .delete
      default: .verify
      }
    let precondition: Precondition = pick([.none, .exists(true), .exists(false), .updateTime(version())])
    return Mutation(
      key: key(), operation: operation, precondition: precondition, transforms: list(upTo: 3) { $0.transform() })
  }

  private mutating func transform() -> FieldTransform {
    let operation: FieldTransform.Operation =
      switch Int.random(in: 0..<6, using: &self) {
      case 0: .serverTimestamp
      case 1: .increment(pick([.integer(-1), .double(.nan), .double(0.5)]))
      case 2: .maximum(.integer(.max))
      case 3: .minimum(.double(-0.0))
      case 4: .arrayUnion(list(upTo: 2) { $0.value(depth: 1) })
      default: .arrayRemove(list(upTo: 2) { $0.value(depth: 1) })
      }
    return FieldTransform(path: path(), operation: operation)
  }

  mutating func commit(of mutations: [Mutation]) -> CommitResponse {
    let time = version()
    return CommitResponse(
      commitTime: time,
      results: mutations.map { mutation in
        MutationResult(
          version: mutation.operation == .delete ? time : version(), transformResults: list(upTo: 2) { $0.value() })
      })
  }

  mutating func requestID() -> WriteRequestID {
    WriteRequestID(clientID: [7] + bytes(), batchID: BatchID(pick([1, 2, .max])))
  }

  // MARK: Queries

  /// Of anything but a document, whether or not a backend would accept it.
  mutating func target() -> Target {
    let id = pick(["c", "é", "a b"])
    let isGroup = Bool.random(using: &self)
    let parent: ResourcePath = pick([.root, ResourcePath("a/b"), ResourcePath("a/🐵/b/__id7__")])
    return Target(
      path: isGroup ? parent : parent.appending(id), collectionGroup: isGroup ? id : nil,
      filters: list(upTo: 3) { $0.filter(depth: 2) }, orderBy: list(upTo: 3) { $0.ordering() },
      limit: pick([nil, 0, 1, Int(Int32.max)]), start: optional { $0.bound() }, end: optional { $0.bound() })
  }

  private mutating func filter(depth: Int) -> Filter {
    switch Int.random(in: 0..<(depth > 0 ? 5 : 3), using: &self) {
    case 3: .and(list(upTo: 3) { $0.filter(depth: depth - 1) })
    case 4: .or(list(upTo: 3) { $0.filter(depth: depth - 1) })
    default:
      .field(
        FieldFilter(
          path(), pick(Array(FieldFilter.Operator.allCases)), pick([value(depth: 1), .null, .double(.nan)])))
    }
  }

  private mutating func ordering() -> OrderBy { OrderBy(path(), pick([.ascending, .descending])) }

  private mutating func bound() -> Bound {
    Bound(values: list(upTo: 2) { $0.value(depth: 1) }, isInclusive: Bool.random(using: &self))
  }

  mutating func aggregations() -> [Aggregation] {
    list(upTo: 4) { random in
      let function: Aggregation.Function = random.pick([.count, .sum(random.path()), .average(random.path())])
      return Aggregation(alias: random.text(), function: function)
    }
  }

  // MARK: Listening

  /// - Parameter target: a random one if none is given.
  mutating func watchRequest(_ target: Target? = nil) -> WatchRequest {
    if target == nil, Int.random(in: 0..<5, using: &self) == 0 { return .remove(TargetID(pick([1, 2, .max]))) }
    let document = Query(path: key().path).target
    return .add(
      WatchTarget(
        id: TargetID(pick([1, 2, 300, .max])), target: target ?? pick([self.target(), document]),
        purpose: pick([.listen, .existenceFilterMismatch, .existenceFilterMismatchBloom, .limboResolution]),
        resume: pick([nil, ResumeToken(bytes()).map { .token($0) }, .readTime(version())]),
        expectedCount: pick([nil, 0, 12])))
  }

  mutating func watchChange() -> WatchChange {
    let token = optional { $0.bytes() }.flatMap { ResumeToken($0) }
    switch Int.random(in: 0..<10, using: &self) {
    case 0: return .added(ids())
    case 1:
      let code = pick(StatusCode.allCases.filter { $0 != .ok })
      return .removed(ids(), cause: optional { RPCStatus(code, $0.text()) })
    case 2: return .current(ids(), token)
    case 3: return .reset(ids(), token)
    case 4: return .token([TargetID(2)] + ids(), token)
    case 5: return .snapshot(version(), token)
    case 6: return .document(document(), updated: ids(), removed: ids())
    case 7: return .document(Document(key: key(), version: version(), state: .missing), updated: [], removed: ids())
    case 8: return .documentRemoved(key(), removed: ids())
    default:
      let bits = BloomFilterBits(bitmap: bytes(), padding: pick([0, 7]), hashCount: pick([0, 16]))
      let filter = ExistenceFilter(count: pick([0, 3]), unchangedNames: optional { _ in bits })
      return .filter(TargetID(pick([0, 2])), filter)
    }
  }
}
