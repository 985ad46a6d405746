// SPDX-License-Identifier: Apache-2.0
import FirestoreProtoJSON
import FirestoreService

/// The proto files of all that is served over gRPC, made from the tables of the messages.
package struct ProtoFiles: Sendable {
  /// Full names of the services.
  package let services: [String]
  private let files: [String: ProtoFile]
  private let filesBySymbol: [String: String]

  package static let served = ProtoFiles(
    [Schema.firestore, Schema.admin, Schema.emulator, Schema.health] + ["v1", "v1alpha"].map(Schema.reflection))

  init(_ services: [ServiceSchema]) {
    var messages: [String: MessageSchema] = [:]
    var enumerations: [String: EnumSchema] = [:]
    func collect(_ schema: MessageSchema) {
      // JSON has another form of some.
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
    // A message that only holds others has fields of its own, or is made for them.
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

  /// Descriptors of a file and all that it imports, that first.
  /// - Returns: `nil` for a file that is not known.
  package func descriptors(ofFile name: String) -> [[UInt8]]? {
    guard files[name] != nil else { return nil }
    var (names, position) = ([name], 0)
    while position < names.count {
      for file in files[names[position]]?.imports ?? [] where !names.contains(file) { names.append(file) }
      position += 1
    }
    return names.compactMap { files[$0]?.descriptor }
  }

  /// Descriptors of the file that has a message, an enumeration, a service or a method, and of all that it imports.
  package func descriptors(ofSymbol name: String) -> [[UInt8]]? {
    filesBySymbol[name].flatMap { descriptors(ofFile: $0) }
  }

  /// Whether there is a message of this name.
  package func hasMessage(_ name: String) -> Bool { filesBySymbol[name] != nil && !services.contains(name) }

  // MARK: Names

  /// The part of a name before its first capital.
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
