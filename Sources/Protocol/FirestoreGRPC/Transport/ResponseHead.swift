// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOHPACK

/// The meaning of headers of an answer; once for all blocks that say the same.
enum ResponseHead {
  /// The answer is still to come.
  case interim
  case begin
  /// Trailers, which may stand for the whole answer.
  case end(Result<Void, any Error>)
  /// An answer of HTTP that is none of gRPC, with its status.
  case foreign(Int)
  /// Headers without a status.
  case other

  init(_ headers: HPACKHeaders) {
    if let code = headers.first(name: "grpc-status") {
      let code = Int(code).flatMap(StatusCode.init(rawValue:)) ?? .unknown
      let message = Self.percentDecoded(headers.first(name: "grpc-message") ?? "")
      self = .end(code == .ok ? .success(()) : .failure(RPCStatus(code, message)))
    } else if let status = headers.first(name: ":status") {
      let isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
      self = status.hasPrefix("1") ? .interim : status == "200" && isGRPC ? .begin : .foreign(Int(status) ?? 0)
    } else {
      self = .other
    }
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
