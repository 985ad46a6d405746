// SPDX-License-Identifier: Apache-2.0
import FirestoreProtoJSON
import FirestoreService

/// google.firestore.admin.v1, as far as it is served.
extension Schema {
  static let admin = ServiceSchema(
    name: "google.firestore.admin.v1.FirestoreAdmin",
    methods: FirestoreService.AdminMethod.allCases.map { method in
      ServiceSchema.Method(name: method.rawValue, request: method.request, response: method.response)
    })

  fileprivate static let listDatabasesRequest = adminMessage(
    "ListDatabasesRequest", [FieldSchema(1, "parent", .string)])
  fileprivate static let listDatabasesResponse = adminMessage(
    "ListDatabasesResponse", [FieldSchema(1, "databases", .message { database }, .list)])
  fileprivate static let getDatabaseRequest = adminMessage("GetDatabaseRequest", [FieldSchema(1, "name", .string)])

  fileprivate static let database = adminMessage(
    "Database",
    [
      FieldSchema(1, "name", .string),
      FieldSchema(
        10, "type",
        .enumeration(
          adminEnumeration(
            "Database.DatabaseType", ["DATABASE_TYPE_UNSPECIFIED": 0, "FIRESTORE_NATIVE": 1, "DATASTORE_MODE": 2]))),
      FieldSchema(
        15, "concurrency_mode",
        .enumeration(
          adminEnumeration(
            "Database.ConcurrencyMode",
            [
              "CONCURRENCY_MODE_UNSPECIFIED": 0, "OPTIMISTIC": 1, "PESSIMISTIC": 2, "OPTIMISTIC_WITH_ENTITY_GROUPS": 3,
            ]))),
    ])

  private static func adminMessage(_ name: String, _ fields: [FieldSchema]) -> MessageSchema {
    MessageSchema("google.firestore.admin.v1.\(name)", fields)
  }

  private static func adminEnumeration(_ name: String, _ cases: [String: Int32]) -> EnumSchema {
    EnumSchema("google.firestore.admin.v1.\(name)", cases)
  }
}

extension FirestoreService.AdminMethod {
  var request: MessageSchema {
    switch self {
    case .listDatabases: Schema.listDatabasesRequest
    case .getDatabase: Schema.getDatabaseRequest
    }
  }

  var response: MessageSchema {
    switch self {
    case .listDatabases: Schema.listDatabasesResponse
    case .getDatabase: Schema.database
    }
  }
}
