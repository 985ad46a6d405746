// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import SwiftProtobuf
import Testing

@testable import FirestoreREST

@Suite("Descriptors of the served services")
struct ProtoFilesTests {
  private let files = ProtoFiles.served

  private func descriptors(_ symbol: String) throws -> [Google_Protobuf_FileDescriptorProto] {
    try #require(files.descriptors(ofSymbol: symbol)).map {
      try Google_Protobuf_FileDescriptorProto(serializedBytes: $0)
    }
  }

  @Test("A service's descriptors include every file and type that they reference")
  func complete() throws {
    for service in files.services {
      let found = try descriptors(service)
      let names = Set(found.map(\.name))
      var types: Set<String> = []
      func add(_ message: Google_Protobuf_DescriptorProto, below outer: String) {
        types.insert("\(outer).\(message.name)")
        for inner in message.nestedType { add(inner, below: "\(outer).\(message.name)") }
        for inner in message.enumType { types.insert("\(outer).\(message.name).\(inner.name)") }
      }
      for file in found {
        #expect(file.syntax == "proto3" && Set(file.dependency).isSubset(of: names))
        for message in file.messageType { add(message, below: ".\(file.package)") }
        for schema in file.enumType { types.insert(".\(file.package).\(schema.name)") }
      }
      func check(_ message: Google_Protobuf_DescriptorProto) {
        for field in message.field where field.hasTypeName {
          #expect(types.contains(field.typeName), "\(field.typeName)")
        }
        for inner in message.nestedType { check(inner) }
      }
      for file in found {
        for message in file.messageType { check(message) }
        for method in file.service.flatMap(\.method) {
          #expect(types.contains(method.inputType) && types.contains(method.outputType))
        }
      }
      // The file of the service is the first.
      #expect(found.first?.service.contains { service.hasSuffix(".\($0.name)") } == true)
    }
  }

  @Test("Maps, oneofs, lists and enums are described like protoc's output")
  func details() throws {
    let value = try #require(
      try descriptors("google.firestore.v1.Value").first { $0.name == "google/firestore/v1/document.proto" }?
        .messageType.first { $0.name == "MapValue" })
    let fields = try #require(value.field.first)
    #expect(fields.number == 1 && fields.label == .repeated && fields.type == .message)
    #expect(fields.typeName == ".google.firestore.v1.MapValue.FieldsEntry")
    let entry = try #require(value.nestedType.first)
    #expect(entry.options.mapEntry && entry.field.map(\.name) == ["key", "value"])
    #expect(entry.field[1].typeName == ".google.firestore.v1.Value")

    let query = try #require(
      try descriptors("google.firestore.v1.StructuredQuery.CompositeFilter.Operator").first?.messageType.first {
        $0.name == "StructuredQuery"
      })
    let filter = try #require(query.nestedType.first { $0.name == "Filter" })
    #expect(filter.oneofDecl.map(\.name) == ["filter_type"])
    #expect(filter.field.map(\.number) == [1, 2, 3])
    #expect(filter.field.filter(\.hasOneofIndex).count == 3)
    #expect(query.field.first { $0.name == "limit" }?.typeName == ".google.protobuf.Int32Value")
    let composite = try #require(query.nestedType.first { $0.name == "CompositeFilter" })
    #expect(composite.enumType.first?.value.map(\.name) == ["OPERATOR_UNSPECIFIED", "AND", "OR"])
    #expect(composite.field.first { $0.name == "filters" }?.label == .repeated)
  }

  @Test("Firestore methods are listed with their streaming directions")
  func methods() throws {
    let service = try #require(try descriptors("google.firestore.v1.Firestore.Listen").first?.service.first)

    let methods = Dictionary(uniqueKeysWithValues: service.method.map { ($0.name, $0) })
    #expect(methods.count == FirestoreService.Method.allCases.count + 2)
    #expect(methods["Listen"]?.clientStreaming == true && methods["Listen"]?.serverStreaming == true)
    #expect(methods["RunQuery"]?.clientStreaming == false && methods["RunQuery"]?.serverStreaming == true)
    #expect(methods["Commit"]?.serverStreaming == false)
    #expect(methods["DeleteDocument"]?.outputType == ".google.protobuf.Empty")
  }

  @Test("Descriptors have valid names, unique numbers and JSON names, and no cycles")
  func pool() throws {
    var files: [String: Google_Protobuf_FileDescriptorProto] = [:]
    for service in self.files.services { for file in try descriptors(service) { files[file.name] = file } }
    func isName(_ text: String) -> Bool {
      guard let first = text.unicodeScalars.first else { return false }
      func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isAlphabetic }
      return isLetter(first)
        && text.unicodeScalars.allSatisfy { $0.isASCII && (isLetter($0) || ("0"..."9").contains($0)) }
    }
    func check(_ message: Google_Protobuf_DescriptorProto, _ file: String) {
      let names = message.field.map(\.name) + message.oneofDecl.map(\.name) + message.nestedType.map(\.name)
      #expect(isName(message.name) && names.allSatisfy(isName), "\(file): \(message.name)")
      #expect(Set(names).count == names.count, "\(file): \(message.name)")
      #expect(Set(message.field.map(\.number)).count == message.field.count, "\(file): \(message.name)")
      #expect(Set(message.field.map(\.jsonName)).count == message.field.count, "\(file): \(message.name)")
      for field in message.field {
        #expect((1..<(1 << 29)).contains(field.number) && !(19_000..<20_000).contains(field.number))
        #expect(!field.hasOneofIndex || message.oneofDecl.indices.contains(Int(field.oneofIndex)))
      }
      for schema in message.enumType { #expect(schema.value.first?.number == 0) }
      for inner in message.nestedType { check(inner, file) }
    }
    for file in files.values {
      for message in file.messageType { check(message, file.name) }
      for schema in file.enumType { #expect(schema.value.first?.number == 0) }
    }
    // A pool adds a file when all that it imports is there.
    var (added, rest) = (Set<String>(), Set(files.keys))
    while let next = rest.first(where: { Set(files[$0]?.dependency ?? []).isSubset(of: added) }) {
      added.insert(next)
      rest.remove(next)
    }
    #expect(rest.isEmpty)
  }

  @Test("Messages with a special JSON form are described in their wire form")
  func wellKnown() throws {
    let any = try #require(
      try descriptors("google.firestore.v1.ExplainStats").flatMap(\.messageType).first { $0.name == "Any" })
    #expect(any.field.map(\.name) == ["type_url", "value"])
    #expect(any.field.map(\.number) == [1, 2] && any.field.map(\.type) == [.string, .bytes])
  }

  @Test("An unknown symbol has no descriptor")
  func unknown() {
    #expect(files.descriptors(ofSymbol: "google.firestore.v1.Nothing") == nil)
    #expect(files.descriptors(ofFile: "google/firestore/v1/nothing.proto") == nil)
    #expect(!files.hasMessage("google.firestore.v1.Firestore") && files.hasMessage("google.firestore.v1.Document"))
  }
}
