// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOHPACK

/// The meaning of a response's headers; computed once for all blocks that are equal.
enum ResponseHead {
  /// An interim response; the final one follows.
  case interim
  case begin
  /// Trailers, which may stand for the whole response.
  case end(Result<Void, any Error>, isWhole: Bool)
  /// A response of HTTP that is not a response of gRPC, with its status; 0 for an invalid one.
  case foreign(Int)
  /// Headers without a status.
  case other
  /// Headers that HTTP/2 does not allow (RFC 9113, 8.2 and 8.3).
  case malformed

  init(_ headers: HPACKHeaders) {
    let statuses = headers[":status"]
    // Servers of gRPC send the blanks of a message as they are.
    guard statuses.count <= 1, headers.areFields(pseudoHeaders: [":status"], allowsBlanks: true) else {
      self = .malformed
      return
    }
    let code = headers.first(name: "grpc-status")
    guard let text = statuses.first else {
      self = code.map { .end(Self.outcome($0, headers), isWhole: false) } ?? .other
      return
    }
    let status = Self.number(text) ?? 0
    let isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    switch (status, code) {
    // An upgrade does not exist in HTTP/2.
    case (101, _): self = .malformed
    case (100..<200, _): self = .interim
    case (200..., let code?): self = .end(Self.outcome(code, headers), isWhole: true)
    case (200, nil) where isGRPC: self = .begin
    default: self = .foreign(status)
    }
  }

  /// Reads a status of HTTP: three digits, from 100 to 599. NIO traps on a negative one.
  private static func number(_ text: String) -> Int? {
    guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { (100...599).contains($0) ? $0 : nil }
  }

  private static func outcome(_ code: String, _ headers: HPACKHeaders) -> Result<Void, any Error> {
    let code = Int(code).flatMap(StatusCode.init(rawValue:)) ?? .unknown
    if code == .ok { return .success(()) }
    return .failure(RPCStatus(code, percentDecoded(headers.first(name: "grpc-message") ?? "")))
  }

  /// The text of a `grpc-message`; characters that are no valid encoding stay as they are.
  static func percentDecoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Keeps a meaning with the headers that have it.
private final class Meaning {
  let head: ResponseHead
  init(_ head: ResponseHead) { self.head = head }
}

extension HeaderBlock {
  var response: ResponseHead {
    if let meaning = meaning as? Meaning { return meaning.head }
    let head = ResponseHead(headers)
    meaning = Meaning(head)
    return head
  }
}
