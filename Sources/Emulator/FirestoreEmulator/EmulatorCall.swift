// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService

/// REST, WebChannel and emulator control on HTTP/2 streams, and health checks, reflection and `ClearData` over gRPC.
struct EmulatorCalls: OtherCalls {
  private let origins: ControlOrigins
  private let channels: WebChannels
  private let log: RequestLog?

  init(_ origins: ControlOrigins, _ channels: WebChannels, _ log: RequestLog? = nil) {
    self.origins = origins
    self.channels = channels
    self.log = log
  }

  func call(on stream: ServedStream, path: String, _ service: FirestoreService) -> (any StreamedCall)? {
    !stream.head.call.isCall || PlainRequest.isData(path)
      ? HTTPStream(stream, HTTPExchange(service, origins, channels, .stream(stream.budget), log: log)) : nil
  }

  func call(
    _ path: String, _ authorization: String?, _ service: FirestoreService
  ) throws(RPCStatus) -> (any AuxiliaryCall)? {
    guard let call = EmulatorCall(path, service) else { return nil }
    if call.controls {
      let control = ControlWork(service, origins)
      try control.check(authorization)
      try control.checkClearing()
    }
    return call
  }
}

/// A call of another service: health, reflection, or emulator control.
struct EmulatorCall: AuxiliaryCall {
  private enum Work {
    /// grpc.health.v1
    case check
    case watchHealth
    /// grpc.reflection.v1 and v1alpha
    case reflection
    /// google.firestore.emulator.v1
    case clearData
  }

  private let work: Work
  private let service: FirestoreService

  /// - Returns: `nil` for a path of another service.
  init?(_ path: String, _ service: FirestoreService) {
    switch path {
    case "/grpc.health.v1.Health/Check": work = .check
    case "/grpc.health.v1.Health/Watch": work = .watchHealth
    case "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo":
      work = .reflection
    case "/google.firestore.emulator.v1.FirestoreEmulator/ClearData": work = .clearData
    default: return nil
    }
    self.service = service
  }

  var isEndless: Bool { work == .watchHealth || work == .reflection }

  /// Whether the call needs permission to control the server. Any caller may check the health.
  var controls: Bool { work == .clearData }

  func serve(_ requests: RequestMessages, to send: FirestoreService.Send) async throws {
    switch work {
    case .check:
      let name = try Self.name(try await requests.single())
      guard Self.isServed(name) else { throw RPCStatus(.notFound, "Unknown service \"\(name)\".") }
      try await send([Self.health(.serving)])
    case .watchHealth:
      let name = try Self.name(try await requests.single())
      try await send([Self.health(Self.isServed(name) ? .serving : .unknownService)])
      // The health does not change while the server runs.
      let (changes, end) = AsyncStream.makeStream(of: Void.self)
      for await _ in changes {}
      end.finish()
      try Task.checkCancellation()
    case .reflection:
      for try await request in requests { try await send([try ReflectionAnswer(to: request).message]) }
    case .clearData:
      let name = try Self.name(try await requests.single())
      guard let database = DatabaseID(name: name) else {
        throw RPCStatus(
          .invalidArgument, "Database name \"\(name)\" is not of the form projects/PROJECT/databases/DATABASE.")
      }
      try await service.deleteDocuments(below: .root, in: database)
      try await send([[]])
    }
  }

  private enum Health: UInt64 {
    case serving = 1
    case unknownService = 3
  }

  private static func health(_ status: Health) -> [UInt8] {
    WireWriter.message { $0.field(1, varint: status.rawValue) }
  }

  /// An empty name means the whole server.
  private static func isServed(_ service: String) -> Bool {
    service.isEmpty || ProtoFiles.served.services.contains(service)
  }

  /// Field 1 of a request, a string.
  private static func name(_ request: [UInt8]) throws(RPCStatus) -> String {
    do throws(WireError) {
      return try WireReader.read(request) { reader throws(WireError) in
        var name = ""
        while let tag = try reader.tag() {
          guard tag.field == 1, tag.type == .lengthDelimited else {
            try reader.skip(tag.type)
            continue
          }
          name = try reader.string()
        }
        return name
      }
    } catch {
      throw RPCStatus(.invalidArgument, "The request cannot be read: \(error.reason).")
    }
  }
}

/// The response to one request of gRPC's server reflection (grpc/reflection/v1/reflection.proto).
struct ReflectionAnswer {
  private enum Question {
    case file(String)
    case symbol(String)
    /// A proto2 extension by number; none exist here.
    case `extension`(of: String)
    case extensions(of: String)
    case services
    case none
  }

  /// A `ServerReflectionResponse`.
  let message: [UInt8]

  /// - Throws: `invalid-argument` for invalid bytes.
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
      guard let descriptors else { return fault(.notFound, "This server has no \(name).") }
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
    case .extension(let type), .extensions(let type): fault(.notFound, "\(type) has no extensions.")
    case .services:
      writer.field(6) { writer in
        for service in files.services { writer.field(1) { $0.field(1, string: service) } }
      }
    case .none: fault(.invalidArgument, "The request has no known field.")
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
