// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import NIOCore

/// Decides how the faults affect a message of a listener or a write.
struct FaultPolicy {
  enum Verdict {
    case pass
    /// Sends the server other content.
    case replace([UInt8])
    /// Sends the write to the server.
    case passWrite(losesAnswer: Bool)
    /// Breaks the connection before the server receives the write.
    case lose
    case refuse(RPCStatus)
    /// Sends the client this response, and nothing to the server.
    case refuseTarget(ByteBuffer, StatusCode)
  }

  private let faults: FaultInjector
  private let method: ProxiedMethod

  init(_ faults: FaultInjector, _ method: ProxiedMethod) { (self.faults, self.method) = (faults, method) }

  func verdict(on message: MessageCounter.Message) -> Verdict {
    // The content of a compressed message cannot be read.
    if message.isCompressed { return .pass }
    switch method.kind {
    case .listen: return listen(message)
    case .writes, .commit: return write(message)
    case .read, .other: return .pass
    }
  }

  private func write(_ message: MessageCounter.Message) -> Verdict {
    // A call has only one response. On a stream, every write is recorded, so that responses can be matched to writes.
    if method.kind == .commit, !faults.mayHitWrites { return .pass }
    let summary = MessageSummary(method.name, message.content, isRequest: true)
    if summary.count == 0, method.kind == .writes || method.name == "Commit" || method.name == "BatchWrite" {
      return .pass
    }
    switch faults.takeWriteFault() {
    case nil: return .passWrite(losesAnswer: false)
    case .dropAcknowledgement?: return .passWrite(losesAnswer: true)
    case .dropRequest?: return .lose
    case .reject(let code)?: return .refuse(RPCStatus(code, "The write was rejected by an injected fault."))
    }
  }

  private func listen(_ message: MessageCounter.Message) -> Verdict {
    let summary = MessageSummary(method.name, message.content, isRequest: true)
    guard summary.kind == "addTarget" else { return .pass }
    if let code = faults.takeListenFault() {
      let content = Self.refusal(of: Int32(truncatingIfNeeded: summary.targets.first ?? 0), code)
      return .refuseTarget(GRPCMessage.buffer(content), code)
    }
    guard faults.hasForgottenTokens, message.isWhole, let token = Self.token(inRequest: message.content),
      faults.isForgotten(token)
    else { return .pass }
    return .replace(Self.withoutResume(message.content))
  }

  /// The message that ends a target with a code.
  static func refusal(of target: Int32, _ code: StatusCode) -> [UInt8] {
    let cause = RPCStatus(code, "The listener was rejected by an injected fault.")
    let refusal = WatchChange.removed([TargetID(target)], cause: cause)
    return WireWriter.message { $0.watchChange(refusal, DocumentNames(DatabaseID(project: "proxied"))) }
  }

  // MARK: Resume tokens

  /// The numbers of the fields that resume a target: resume token, read time, expected count.
  private static let resumeFields: Set = [4, 11, 12]
  private static let (addTarget, targetChange, resumeToken) = (2, 2, 4)

  private static func token(inRequest content: [UInt8]) -> [UInt8]? { bytes(addTarget, resumeToken, of: content) }

  /// The resume token of a `ListenResponse`; empty if there is none.
  static func tokens(inResponse content: [UInt8]) -> [[UInt8]] {
    bytes(targetChange, resumeToken, of: content).map { [$0] } ?? []
  }

  /// The bytes of a field in a nested message; `nil` if they are missing or empty.
  private static func bytes(_ outer: Int, _ inner: Int, of content: [UInt8]) -> [UInt8]? {
    var found: [UInt8]?
    _ = try? WireReader.read(content) { (reader: inout WireReader) throws(WireError) in
      try reader.each(outer) { (reader: inout WireReader) throws(WireError) in
        var message = try reader.message()
        try message.each(inner) { (reader: inout WireReader) throws(WireError) in found = try reader.byteArray() }
      }
    }
    return found?.isEmpty == false ? found : nil
  }

  /// The `ListenRequest` without the fields that resume its target.
  static func withoutResume(_ content: [UInt8]) -> [UInt8] {
    copy(content) { field, writer, bytes in
      if field != addTarget { return false }
      writer.field(field, bytes: copy(bytes) { field, _, _ in resumeFields.contains(field) })
      return true
    }
  }

  /// Copies a message, field by field.
  /// - Parameter replace: can write something else, or nothing, in place of a length-delimited field. Returns whether
  ///   it replaced the field.
  private static func copy(_ content: [UInt8], _ replace: (Int, inout WireWriter, [UInt8]) -> Bool) -> [UInt8] {
    var writer = WireWriter()
    let isRead: Void? = try? WireReader.read(content) { (reader: inout WireReader) throws(WireError) in
      while let tag = try reader.tag() {
        switch tag.type {
        case .lengthDelimited:
          let bytes = try reader.byteArray()
          if !replace(tag.field, &writer, bytes) { writer.field(tag.field, bytes: bytes) }
        case .varint:
          let value = try reader.varint()
          writer.field(tag.field, varint: value)
        default: try reader.skip(tag.type)
        }
      }
    }
    return isRead == nil ? content : writer.bytes
  }
}

/// Creates gRPC messages with their five-byte prefix.
enum GRPCMessage {
  static func buffer(_ content: [UInt8]) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(content.count + 5)
    buffer.writeInteger(0 as UInt8)
    buffer.writeInteger(UInt32(content.count))
    buffer.writeBytes(content)
    return buffer
  }
}
