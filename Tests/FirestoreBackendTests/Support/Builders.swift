// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting

@testable import FirestoreBackend

func makeBackend(
  _ location: BackendConfiguration.Location = .memory, clock: TestClock = TestClock(), keptChanges: Int = 100_000,
  requests: AppliedRequests.Limits = AppliedRequests.Limits()
) throws -> LocalBackend {
  try LocalBackend(
    BackendConfiguration(location: location, now: clock.now), keptChanges: keptChanges, requests: requests)
}

func patch(
  _ path: String, _ fields: Fields, mask: [String], _ precondition: Precondition = .none,
  _ transforms: [FieldTransform] = []
) -> Mutation {
  let mask = FieldMask(mask.map { FieldPath(segments: $0.split(separator: ".").map(String.init)) })
  return Mutation(key: key(path), operation: .patch(fields, mask), precondition: precondition, transforms: transforms)
}

func transform(_ path: String, _ operations: FieldTransform.Operation...) -> Mutation {
  patch(path, [:], mask: [], .none, operations.map { FieldTransform(path: FieldPath("v"), operation: $0) })
}

func query(
  _ path: String, _ filters: [FieldFilter] = [], orderBy: [OrderBy] = [], limit: Int? = nil, start: Bound? = nil,
  end: Bound? = nil
) -> Target {
  Query(
    path: ResourcePath(path), filters: filters.map(Filter.field), explicitOrderBy: orderBy, limit: limit, start: start,
    end: end
  ).target
}

func group(_ id: String, below path: String = "", limit: Int? = nil, start: Bound? = nil) -> Target {
  Query(path: ResourcePath(path), collectionGroup: id, limit: limit, start: start).target
}

func field(_ name: String, _ op: FieldFilter.Operator, _ value: Value) -> FieldFilter {
  FieldFilter(FieldPath(name), op, value)
}

func name(_ path: String) -> Value { .reference(database, key(path)) }

extension Document {
  var path: String { key.path.text }
  subscript(name: String) -> Value? { self[FieldPath(name)] }
}

extension TargetID: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int32) { self.init(value) }
}

extension LocalBackend {
  @discardableResult
  func commit(_ mutations: Mutation...) throws(RPCStatus) -> CommitResponse { try commit(mutations, in: database) }
  func read(_ path: String) throws(RPCStatus) -> Document { try lookup([key(path)], in: database).documents[0] }
  func paths(_ target: Target) throws(RPCStatus) -> [String] { try runQuery(target, in: database).map(\.path) }
  func readTime(of database: DatabaseID) throws(RPCStatus) -> SnapshotVersion { try lookup([], in: database).readTime }

  /// What one step finds, as watch streams read: the simple version of a read in slices.
  func runQuery(_ target: Target, in database: DatabaseID) throws(RPCStatus) -> [Document] {
    try read(at: try readTime(of: database).microseconds, in: database) { reader throws(StoreError) in
      try reader.run(target, limit: target.limit)
    }
  }
}
