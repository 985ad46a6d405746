// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreProtoJSON
package import FirestoreService

/// A REST request of google.firestore.admin.v1 for a database or the list of databases.
///
/// ```
/// GET  /v1/projects/P/databases      ListDatabases
/// GET  /v1/projects/P/databases/D    GetDatabase
/// ```
package struct DatabasesCall: Sendable {
  package let method: FirestoreService.AdminMethod
  /// The request in the service's format.
  package let message: [UInt8]
  private let isPretty: Bool
  private let objection: RPCStatus?

  /// - Returns: `nil` for any other target.
  package init?(_ verb: String, _ target: String) {
    guard verb == "GET", RESTCall.root(of: target) != nil else { return nil }
    let address = RESTAddress(target)
    let names = address.segments.map { PercentEncoding.decoded($0, slashes: false) }
    guard names.count == 3 || names.count == 4, names[0] == "projects", names[2] == "databases",
      names.allSatisfy({ !$0.isEmpty })
    else { return nil }
    method = names.count == 3 ? .listDatabases : .getDatabase
    let name = names.count == 3 ? "projects/\(names[1])" : names.joined(separator: "/")
    message = WireWriter.message { $0.field(1, string: name) }
    (isPretty, objection) = (address.isPretty, address.objection)
  }

  /// - Throws: `RPCStatus`, also for unsupported parameters in the target.
  package func answer(by service: FirestoreService) async throws(RPCStatus) -> [UInt8] {
    if let objection { throw objection }
    let answer = try await service.answer(method, message)
    do throws(WireError) {
      return try MessageWriter.text(of: answer, method.response, isPretty: isPretty) + [0x0A]
    } catch { throw RPCStatus(.internal, "The response cannot be written as JSON: \(error.reason).") }
  }
}

/// A REST request of google.firestore.admin.v1 for the indexes of a database, or for its fields with nondefault
/// settings. The list of fields is always empty here.
///
/// ```
/// GET  /v1/projects/P/databases/D/collectionGroups/C/indexes    ListIndexes; C may be - for all
/// GET  /v1/projects/P/databases/D/collectionGroups/C/fields     ListFields
/// ```
package struct DeploymentCall: Sendable {
  private let database: DatabaseID
  /// The collection id; `nil` for all.
  private let collectionID: String?
  private let isForIndexes: Bool
  private let objection: RPCStatus?

  /// - Returns: `nil` for any other target.
  package init?(_ verb: String, _ target: String) {
    guard verb == "GET", RESTCall.root(of: target) != nil else { return nil }
    let address = RESTAddress(target)
    let names = address.segments.map { PercentEncoding.decoded($0, slashes: false) }
    guard names.count == 7, names[0] == "projects", names[2] == "databases", names[4] == "collectionGroups",
      names[6] == "indexes" || names[6] == "fields", names.allSatisfy({ !$0.isEmpty })
    else { return nil }
    database = DatabaseID(project: names[1], database: names[3])
    collectionID = names[5] == "-" ? nil : names[5]
    isForIndexes = names[6] == "indexes"
    objection = address.objection
  }

  /// Returns the whole list on one page, regardless of the requested page size.
  /// - Throws: `permission-denied` for callers other than administrators; `RPCStatus` also for unsupported parameters
  ///   in the target.
  package func answer(by service: FirestoreService) throws(RPCStatus) -> [UInt8] {
    if let objection { throw objection }
    let indexes = try service.deployedIndexes(of: collectionID)
    guard isForIndexes, !indexes.isEmpty else { return Array("{}\n".utf8) }
    let list = indexes.enumerated().map { $0.element.deployed($0.offset, in: database) }
    let answer = JSONSyntax(.object([JSONSyntax.Member("indexes", JSONSyntax(.array(list)))]))
    return Array((answer.prettyText() + "\n").utf8)
  }
}
