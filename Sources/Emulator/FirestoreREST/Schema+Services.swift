// SPDX-License-Identifier: Apache-2.0
import FirestoreProtoJSON
import FirestoreService

/// The gRPC services, and the messages that only gRPC uses.
extension Schema {
  static let firestore = ServiceSchema(
    name: "google.firestore.v1.Firestore",
    methods: FirestoreService.Method.allCases.map { method in
      ServiceSchema.Method(
        name: method.rawValue, request: method.request, response: method.response, isResponseStream: method.isStream)
    } + [
      ServiceSchema.Method(
        name: "Write", request: writeRequest, response: writeResponse, isRequestStream: true, isResponseStream: true),
      ServiceSchema.Method(
        name: "Listen", request: listenRequest, response: listenResponse, isRequestStream: true, isResponseStream: true),
    ])

  /// The supported part of google/firestore/emulator/v1/firestore_emulator.proto.
  static let emulator = ServiceSchema(
    name: "google.firestore.emulator.v1.FirestoreEmulator",
    methods: [
      ServiceSchema.Method(
        name: "ClearData",
        request: MessageSchema(
          "google.firestore.emulator.v1.ClearDataRequest", [FieldSchema(1, "database", .string)]), response: empty)
    ])

  // MARK: grpc.health.v1

  static let health: ServiceSchema = {
    let package = "grpc.health.v1."
    let request = MessageSchema(package + "HealthCheckRequest", [FieldSchema(1, "service", .string)])
    let status = EnumSchema(
      package + "HealthCheckResponse.ServingStatus",
      ["UNKNOWN": 0, "SERVING": 1, "NOT_SERVING": 2, "SERVICE_UNKNOWN": 3])
    let response = MessageSchema(package + "HealthCheckResponse", [FieldSchema(1, "status", .enumeration(status))])
    return ServiceSchema(
      name: package + "Health",
      methods: [
        ServiceSchema.Method(name: "Check", request: request, response: response),
        ServiceSchema.Method(name: "Watch", request: request, response: response, isResponseStream: true),
      ])
  }()

  // MARK: grpc.reflection

  /// - Parameter version: `v1`, or `v1alpha` with the same messages.
  static func reflection(_ version: String) -> ServiceSchema {
    func message(_ name: String, _ fields: [FieldSchema]) -> MessageSchema {
      MessageSchema("grpc.reflection.\(version).\(name)", fields)
    }
    let `extension` = message(
      "ExtensionRequest", [FieldSchema(1, "containing_type", .string), FieldSchema(2, "extension_number", .int32)])
    let request = message(
      "ServerReflectionRequest",
      [
        FieldSchema(1, "host", .string), FieldSchema(3, "file_by_filename", .string, oneof: "message_request"),
        FieldSchema(4, "file_containing_symbol", .string, oneof: "message_request"),
        FieldSchema(5, "file_containing_extension", .message { `extension` }, oneof: "message_request"),
        FieldSchema(6, "all_extension_numbers_of_type", .string, oneof: "message_request"),
        FieldSchema(7, "list_services", .string, oneof: "message_request"),
      ])
    let files = message("FileDescriptorResponse", [FieldSchema(1, "file_descriptor_proto", .bytes, .list)])
    let numbers = message(
      "ExtensionNumberResponse",
      [FieldSchema(1, "base_type_name", .string), FieldSchema(2, "extension_number", .int32, .list)])
    let service = message("ServiceResponse", [FieldSchema(1, "name", .string)])
    let services = message("ListServiceResponse", [FieldSchema(1, "service", .message { service }, .list)])
    let fault = message(
      "ErrorResponse", [FieldSchema(1, "error_code", .int32), FieldSchema(2, "error_message", .string)])
    let response = message(
      "ServerReflectionResponse",
      [
        FieldSchema(1, "valid_host", .string), FieldSchema(2, "original_request", .message { request }),
        FieldSchema(4, "file_descriptor_response", .message { files }, oneof: "message_response"),
        FieldSchema(5, "all_extension_numbers_response", .message { numbers }, oneof: "message_response"),
        FieldSchema(6, "list_services_response", .message { services }, oneof: "message_response"),
        FieldSchema(7, "error_response", .message { fault }, oneof: "message_response"),
      ])
    return ServiceSchema(
      name: "grpc.reflection.\(version).ServerReflection",
      methods: [
        ServiceSchema.Method(
          name: "ServerReflectionInfo", request: request, response: response, isRequestStream: true,
          isResponseStream: true)
      ])
  }

  // MARK: google.protobuf

  static let nullValue = EnumSchema("google.protobuf.NullValue", ["NULL_VALUE": 0])

  /// Messages with a special JSON form, by their full names.
  static let wellKnown: [String: MessageSchema] = {
    func time(_ name: String) -> MessageSchema {
      MessageSchema("google.protobuf.\(name)", [FieldSchema(1, "seconds", .int64), FieldSchema(2, "nanos", .int32)])
    }
    func wrapper(_ name: String, _ kind: FieldSchema.Kind) -> MessageSchema {
      MessageSchema("google.protobuf.\(name)", [FieldSchema(1, "value", kind)])
    }
    let any = MessageSchema(
      "google.protobuf.Any", [FieldSchema(1, "type_url", .string), FieldSchema(2, "value", .bytes)])
    let messages = [
      any, time("Timestamp"), time("Duration"), structure, wrapper("Int32Value", .int32), wrapper("Int64Value", .int64),
      wrapper("DoubleValue", .double), wrapper("BoolValue", .boolean), wrapper("StringValue", .string),
    ]
    return Dictionary(uniqueKeysWithValues: messages.map { ($0.name, $0) })
  }()

  private static let structure: MessageSchema = MessageSchema(
    "google.protobuf.Struct", [FieldSchema(1, "fields", .message { structureValue }, .map)])

  private static let structureValue: MessageSchema = MessageSchema(
    "google.protobuf.Value",
    [
      FieldSchema(1, "null_value", .null, oneof: "kind"), FieldSchema(2, "number_value", .double, oneof: "kind"),
      FieldSchema(3, "string_value", .string, oneof: "kind"), FieldSchema(4, "bool_value", .boolean, oneof: "kind"),
      FieldSchema(5, "struct_value", .message { structure }, oneof: "kind"),
      FieldSchema(6, "list_value", .message { structureList }, oneof: "kind"),
    ])

  private static let structureList: MessageSchema = MessageSchema(
    "google.protobuf.ListValue", [FieldSchema(1, "values", .message { structureValue }, .list)])
}

/// The supported part of google.firestore.admin.v1.
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
