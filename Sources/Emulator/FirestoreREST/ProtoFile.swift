// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtoJSON
import FirestoreService

/// A proto file, as gRPC's reflection describes it.
package struct ProtoFile: Sendable {
  /// The path of the file, for example `google/firestore/v1/document.proto`.
  package let name: String
  /// The file's descriptor, a `google.protobuf.FileDescriptorProto`.
  package let descriptor: [UInt8]
  /// The files that this one imports.
  package let imports: [String]
  /// The full names of the file's messages, enumerations, services and methods.
  package let symbols: [String]
}

/// A service that a descriptor describes.
struct ServiceSchema {
  struct Method {
    var name: String
    var request: MessageSchema
    var response: MessageSchema
    var isRequestStream = false
    var isResponseStream = false
  }

  /// The full name, including the package.
  var name: String
  var methods: [Method]
}

/// Creates the descriptor of one file.
struct ProtoFileWriter {
  let name: String
  let package: String
  /// The messages; nested ones follow their parents.
  var messages: [MessageSchema]
  var enumerations: [EnumSchema]
  var services: [ServiceSchema]
  /// Returns the file that declares a message or an enumeration.
  let fileOf: (String) -> String

  func file() -> ProtoFile {
    var imports: Set<String> = []
    var symbols = (messages.map(\.name) + enumerations.map(\.name)).sorted()
    for service in services { symbols += [service.name] + service.methods.map { "\(service.name).\($0.name)" } }
    for message in messages {
      for case let type? in message.fields.map(\.kind.typeName) { imports.insert(fileOf(type)) }
    }
    for method in services.flatMap(\.methods) {
      imports.formUnion([fileOf(method.request.name), fileOf(method.response.name)])
    }
    imports.remove(name)
    let bytes = WireWriter.message { writer in
      writer.field(1, string: name)
      writer.field(2, string: package)
      for file in imports.sorted() { writer.field(3, string: file) }
      for message in messages where parent(of: message.name) == package {
        writer.field(4) { self.message(message, &$0) }
      }
      for schema in enumerations where parent(of: schema.name) == package {
        writer.field(5) { Self.enumeration(schema, &$0) }
      }
      for service in services { writer.field(6) { Self.service(service, &$0) } }
      writer.field(12, string: "proto3")
    }
    return ProtoFile(name: name, descriptor: bytes, imports: imports.sorted(), symbols: symbols)
  }

  private func parent(of name: String) -> String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? "" }

  private func message(_ schema: MessageSchema, _ writer: inout WireWriter) {
    writer.field(1, string: Self.last(schema.name))
    var oneofs: [String] = []
    for case let oneof? in schema.fields.map(\.oneof) where !oneofs.contains(oneof) { oneofs.append(oneof) }
    for field in schema.fields {
      writer.field(2) { Self.field(field, of: schema, oneof: field.oneof.flatMap(oneofs.firstIndex(of:)), &$0) }
    }
    for inner in messages where parent(of: inner.name) == schema.name { writer.field(3) { message(inner, &$0) } }
    for field in schema.fields where field.count == .map { writer.field(3) { Self.entry(field, &$0) } }
    for inner in enumerations where parent(of: inner.name) == schema.name {
      writer.field(4) { Self.enumeration(inner, &$0) }
    }
    for oneof in oneofs { writer.field(8) { $0.field(1, string: oneof) } }
  }

  private static func field(
    _ field: FieldSchema, of message: MessageSchema, oneof: Int?, _ writer: inout WireWriter
  ) {
    writer.field(1, string: field.name)
    writer.field(3, varint: UInt64(field.number))
    // The number for LABEL_OPTIONAL or LABEL_REPEATED.
    writer.field(4, varint: field.count == .one ? 1 : 3)
    if field.count == .map {
      writer.field(5, varint: FieldSchema.Kind.messageType)
      writer.field(6, string: ".\(message.name).\(entryName(field))")
    } else {
      writer.field(5, varint: field.kind.type)
      if let type = field.kind.typeName { writer.field(6, string: "." + type) }
    }
    if let oneof { writer.field(9, varint: UInt64(oneof)) }
    writer.field(10, string: field.jsonName)
  }

  /// Writes the message for a map's entries.
  private static func entry(_ field: FieldSchema, _ writer: inout WireWriter) {
    writer.field(1, string: entryName(field))
    let schema = MessageSchema("", [FieldSchema(1, "key", .string), FieldSchema(2, "value", field.kind)])
    for field in schema.fields { writer.field(2) { Self.field(field, of: schema, oneof: nil, &$0) } }
    writer.field(7) { $0.field(7, boolean: true) }
  }

  /// The name of a map's entry message: `FieldsEntry` for `fields`.
  private static func entryName(_ field: FieldSchema) -> String {
    field.jsonName.prefix(1).uppercased() + field.jsonName.dropFirst() + "Entry"
  }

  private static func enumeration(_ schema: EnumSchema, _ writer: inout WireWriter) {
    writer.field(1, string: last(schema.name))
    for (name, number) in schema.cases.sorted(by: { $0.value < $1.value }) {
      writer.field(2) { writer in
        writer.field(1, string: name)
        writer.field(2, integer: Int64(number))
      }
    }
  }

  private static func service(_ schema: ServiceSchema, _ writer: inout WireWriter) {
    writer.field(1, string: last(schema.name))
    for method in schema.methods {
      writer.field(2) { writer in
        writer.field(1, string: method.name)
        writer.field(2, string: "." + method.request.name)
        writer.field(3, string: "." + method.response.name)
        if method.isRequestStream { writer.field(5, boolean: true) }
        if method.isResponseStream { writer.field(6, boolean: true) }
      }
    }
  }

  private static func last(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }
}

extension FieldSchema.Kind {
  fileprivate static let messageType: UInt64 = 11

  /// The number of the type in `google.protobuf.FieldDescriptorProto.Type`.
  fileprivate var type: UInt64 {
    switch self {
    case .double: 1
    case .int64: 3
    case .int32: 5
    case .boolean: 8
    case .string: 9
    case .bytes: 12
    case .null, .enumeration: 14
    case .message, .timestamp, .duration, .structure, .wrapper: Self.messageType
    }
  }

  /// The full name of the field's message or enumeration; `nil` for a scalar.
  var typeName: String? {
    switch self {
    case .boolean, .int32, .int64, .double, .string, .bytes: nil
    case .null: "google.protobuf.NullValue"
    case .enumeration(let schema): schema.name
    case .message(let schema): schema().name
    case .timestamp: "google.protobuf.Timestamp"
    case .duration: "google.protobuf.Duration"
    case .structure: "google.protobuf.Struct"
    case .wrapper(.int32): "google.protobuf.Int32Value"
    case .wrapper(.int64): "google.protobuf.Int64Value"
    case .wrapper(.double): "google.protobuf.DoubleValue"
    case .wrapper(.boolean): "google.protobuf.BoolValue"
    case .wrapper: "google.protobuf.StringValue"
    }
  }
}

/// The proto files of all gRPC services, created from the tables of the messages.
package struct ProtoFiles: Sendable {
  /// The full names of the services.
  package let services: [String]
  private let files: [String: ProtoFile]
  private let filesBySymbol: [String: String]

  package static let served = ProtoFiles(
    [Schema.firestore, Schema.admin, Schema.emulator, Schema.health] + ["v1", "v1alpha"].map(Schema.reflection))

  init(_ services: [ServiceSchema]) {
    var messages: [String: MessageSchema] = [:]
    var enumerations: [String: EnumSchema] = [:]
    func collect(_ schema: MessageSchema) {
      // Well-known messages have a different schema in JSON.
      let schema = Schema.wellKnown[schema.name] ?? schema
      if messages.updateValue(schema, forKey: schema.name) != nil { return }
      for field in schema.fields { collect(field.kind) }
    }
    func collect(_ kind: FieldSchema.Kind) {
      switch kind {
      case .message(let schema): collect(schema())
      case .enumeration(let schema): enumerations[schema.name] = schema
      default: if let name = kind.typeName { wellKnown(name).map(collect) }
      }
    }
    func wellKnown(_ name: String) -> MessageSchema? {
      if name == Schema.nullValue.name { enumerations[name] = Schema.nullValue }
      return Schema.wellKnown[name]
    }
    for method in services.flatMap(\.methods) {
      collect(method.request)
      collect(method.response)
    }
    // Creates the messages that only contain other messages, unless they exist.
    for name in Array(messages.keys) + Array(enumerations.keys) {
      var outer = name[..<(name.lastIndex(of: ".") ?? name.startIndex)]
      while let last = outer.split(separator: ".").last, last.first?.isUppercase == true {
        if messages[String(outer)] == nil { messages[String(outer)] = MessageSchema(String(outer), []) }
        outer = outer[..<(outer.lastIndex(of: ".") ?? outer.startIndex)]
      }
    }
    var writers: [String: ProtoFileWriter] = [:]
    func change(_ name: String, _ body: (inout ProtoFileWriter) -> Void) {
      let file = Self.file(of: name)
      let empty = ProtoFileWriter(
        name: file, package: Self.package(of: name), messages: [], enumerations: [], services: [], fileOf: Self.file)
      body(&writers[file, default: empty])
    }
    for (name, schema) in messages.sorted(by: { $0.key < $1.key }) { change(name) { $0.messages.append(schema) } }
    for (name, schema) in enumerations.sorted(by: { $0.key < $1.key }) {
      change(name) { $0.enumerations.append(schema) }
    }
    for service in services { change(service.name) { $0.services.append(service) } }
    files = writers.mapValues { $0.file() }
    var filesBySymbol: [String: String] = [:]
    for file in files.values { for symbol in file.symbols { filesBySymbol[symbol] = file.name } }
    self.filesBySymbol = filesBySymbol
    self.services = services.map(\.name).sorted()
  }

  /// The descriptors of a file and all its imports, beginning with the file.
  /// - Returns: `nil` for an unknown file.
  package func descriptors(ofFile name: String) -> [[UInt8]]? {
    guard files[name] != nil else { return nil }
    var (names, position) = ([name], 0)
    while position < names.count {
      for file in files[names[position]]?.imports ?? [] where !names.contains(file) { names.append(file) }
      position += 1
    }
    return names.compactMap { files[$0]?.descriptor }
  }

  /// The descriptors of the file that declares a message, an enumeration, a service or a method, and of all its
  /// imports.
  package func descriptors(ofSymbol name: String) -> [[UInt8]]? {
    filesBySymbol[name].flatMap { descriptors(ofFile: $0) }
  }

  /// Whether there is a message with this name.
  package func hasMessage(_ name: String) -> Bool { filesBySymbol[name] != nil && !services.contains(name) }

  // MARK: Names

  /// The part of a name before its first uppercase letter.
  private static func package(of name: String) -> String {
    name.split(separator: ".").prefix { $0.first?.isLowercase == true }.joined(separator: ".")
  }

  static func file(of name: String) -> String {
    let package = package(of: name)
    let folder = package.split(separator: ".").joined(separator: "/")
    let outer = String(name.dropFirst(package.count + 1).prefix { $0 != "." })
    let file =
      switch package {
      case "google.firestore.v1": firestoreFiles[outer] ?? "firestore"
      case "google.firestore.emulator.v1": "firestore_emulator"
      case "google.type": "latlng"
      case "google.rpc": "status"
      case "google.protobuf": protobufFiles[outer] ?? "wrappers"
      case "grpc.health.v1": "health"
      default: "reflection"
      }
    return "\(folder)/\(file).proto"
  }

  private static let firestoreFiles: [String: String] = {
    let messages = [
      "document": ["Document", "Value", "ArrayValue", "MapValue", "Function", "Pipeline"],
      "common": ["DocumentMask", "Precondition", "TransactionOptions", "RequestOptions"],
      "write": [
        "Write", "DocumentTransform", "WriteResult", "DocumentChange", "DocumentDelete", "DocumentRemove",
        "ExistenceFilter",
      ],
      "query": ["StructuredQuery", "StructuredAggregationQuery", "Cursor"], "aggregation_result": ["AggregationResult"],
      "query_profile": ["ExplainOptions", "ExplainMetrics", "PlanSummary", "ExecutionStats"],
      "bloom_filter": ["BitSequence", "BloomFilter"], "pipeline": ["StructuredPipeline"],
      "explain_stats": ["ExplainStats"],
    ]
    return messages.reduce(into: [:]) { files, entry in for name in entry.value { files[name] = entry.key } }
  }()

  private static let protobufFiles = [
    "Timestamp": "timestamp", "Duration": "duration", "Struct": "struct", "Value": "struct", "ListValue": "struct",
    "NullValue": "struct", "Empty": "empty", "Any": "any",
  ]
}
