// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreService

/// Calls of other services than Firestore's: whether the server is up, what it serves, which databases there are, and what
/// controls an emulator.
enum AuxiliaryCall: Hashable, Sendable {
  /// grpc.health.v1
  case check
  case watchHealth
  /// grpc.reflection.v1 and v1alpha
  case reflection
  /// google.firestore.emulator.v1
  case clearData
  /// google.firestore.admin.v1
  case admin(FirestoreService.AdminMethod)

  init?(path: String) {
    switch path {
    case "/grpc.health.v1.Health/Check": self = .check
    case "/grpc.health.v1.Health/Watch": self = .watchHealth
    case "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo":
      self = .reflection
    case "/google.firestore.emulator.v1.FirestoreEmulator/ClearData": self = .clearData
    default:
      guard path.hasPrefix(FirestoreService.AdminMethod.root),
        let method = FirestoreService.AdminMethod(
          rawValue: String(path.dropFirst(FirestoreService.AdminMethod.root.count)))
      else { return nil }
      self = .admin(method)
    }
  }

  /// Ends when the client or the server wants it to, not by itself.
  var isEndless: Bool { self == .watchHealth || self == .reflection }

  /// - Throws: `RPCStatus`, or what `send` threw.
  func serve(_ requests: RequestMessages, _ service: FirestoreService, to send: FirestoreService.Send) async throws {
    switch self {
    case .check:
      let name = try Self.name(try await requests.single())
      guard Self.isServed(name) else { throw RPCStatus(.notFound, "There is no service \"\(name)\" here.") }
      try await send([Self.health(.serving)])
    case .watchHealth:
      let name = try Self.name(try await requests.single())
      try await send([Self.health(Self.isServed(name) ? .serving : .unknownService)])
      // Nothing changes as long as the server is there.
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
    case .admin(let method): try await send([try await service.answer(method, try await requests.single())])
    }
  }

  private enum Health: UInt64 {
    case serving = 1
    case unknownService = 3
  }

  private static func health(_ status: Health) -> [UInt8] {
    WireWriter.message { $0.field(1, varint: status.rawValue) }
  }

  /// The empty name is the whole server's.
  private static func isServed(_ service: String) -> Bool {
    service.isEmpty || ProtoFiles.served.services.contains(service)
  }

  /// Field 1 of a request, a text.
  private static func name(_ request: [UInt8]) throws(RPCStatus) -> String {
    do throws(WireError) {
      return try WireReader.read(request) { reader throws(WireError) in
        var name = ""
        while let tag = try reader.tag() {
          if tag.field == 1, tag.type == .lengthDelimited { name = try reader.string() } else { try reader.skip(tag.type) }
        }
        return name
      }
    } catch {
      throw RPCStatus(.invalidArgument, "The request cannot be read: \(error.reason).")
    }
  }
}
