// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST

/// The answer to one request of gRPC's server reflection (grpc/reflection/v1/reflection.proto).
struct ReflectionAnswer {
  private enum Question {
    case file(String)
    case symbol(String)
    /// The number of one of proto2's extensions, of which there are none here.
    case `extension`(of: String)
    case extensions(of: String)
    case services
    case none
  }

  /// A `ServerReflectionResponse`.
  let message: [UInt8]

  /// - Throws: `invalid-argument` for bytes that are no request.
  init(to request: [UInt8]) throws(RPCStatus) {
    let host: String
    let question: Question
    do throws(WireError) { (host, question) = try Self.read(request) } catch {
      throw RPCStatus(.invalidArgument, "The request cannot be read: \(error.reason).")
    }
    message = WireWriter.message { writer in
      writer.field(1, string: host)
      writer.field(2, bytes: request)
      Self.answer(question, &writer)
    }
  }

  private static func answer(_ question: Question, _ writer: inout WireWriter) {
    let files = ProtoFiles.served
    func found(_ descriptors: [[UInt8]]?, _ name: String) {
      guard let descriptors else { return fault(.notFound, "There is no \(name) here.") }
      writer.field(4) { writer in for descriptor in descriptors { writer.field(1, bytes: descriptor) } }
    }
    func fault(_ code: StatusCode, _ text: String) {
      writer.field(7) { writer in
        writer.field(1, varint: UInt64(code.rawValue))
        writer.field(2, string: text)
      }
    }
    switch question {
    case .file(let name): found(files.descriptors(ofFile: name), name)
    case .symbol(let name): found(files.descriptors(ofSymbol: name), name)
    case .extensions(let type) where files.hasMessage(type): writer.field(5) { $0.field(1, string: type) }
    case .extension(let type), .extensions(let type): fault(.notFound, "There is no extension of \(type) here.")
    case .services:
      writer.field(6) { writer in
        for service in files.services { writer.field(1) { $0.field(1, string: service) } }
      }
    case .none: fault(.invalidArgument, "The request asks for nothing that is known here.")
    }
  }

  private static func read(_ request: [UInt8]) throws(WireError) -> (host: String, Question) {
    try WireReader.read(request) { reader throws(WireError) in
      var host = ""
      var question = Question.none
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .lengthDelimited): host = try reader.string()
        case (3, .lengthDelimited): question = .file(try reader.string())
        case (4, .lengthDelimited): question = .symbol(try reader.string())
        case (5, .lengthDelimited): question = .extension(of: try Self.containingType(try reader.message()))
        case (6, .lengthDelimited): question = .extensions(of: try reader.string())
        case (7, .lengthDelimited):
          _ = try reader.lengthDelimited()
          question = .services
        default: try reader.skip(tag.type)
        }
      }
      return (host, question)
    }
  }

  private static func containingType(_ message: WireReader) throws(WireError) -> String {
    var reader = message
    var name = ""
    while let tag = try reader.tag() {
      if tag.field == 1, tag.type == .lengthDelimited { name = try reader.string() } else { try reader.skip(tag.type) }
    }
    return name
  }
}
