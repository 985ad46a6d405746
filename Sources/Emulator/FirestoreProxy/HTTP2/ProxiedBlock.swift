// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOHPACK

/// The facts that the proxy has found out about a list of headers, once for all blocks that are the same.
final class ProxiedBlock {
  private let headers: HPACKHeaders

  fileprivate init(_ headers: HPACKHeaders) { self.headers = headers }

  /// The request whose head this is.
  private(set) lazy var request = RequestHead(headers)
  /// The status in the trailers of a call; `nil` where there is none.
  private(set) lazy var status = RPCStatus(trailers: headers)
  /// The status of HTTP of an answer's head.
  private(set) lazy var httpStatus = headers.first(name: ":status").flatMap { Int($0) }
  /// The head as it goes to a server behind TLS.
  private var addressed: HeaderBlock?

  /// The head with a server's name.
  func addressed(_ rewrite: (HPACKHeaders) -> HPACKHeaders) -> HeaderBlock {
    if let addressed { return addressed }
    let block = HeaderBlock(rewrite(headers))
    addressed = block
    return block
  }
}

extension HeaderBlock {
  var proxied: ProxiedBlock {
    if let meaning = meaning as? ProxiedBlock { return meaning }
    let fresh = ProxiedBlock(headers)
    meaning = fresh
    return fresh
  }
}

/// The parts of a request's head that the proxy asks for.
struct RequestHead {
  let method: ProxiedMethod
  let isGRPC: Bool
  let token: String?

  init(_ headers: HPACKHeaders) {
    method = ProxiedMethod(headers.first(name: ":method") ?? "", headers.first(name: ":path") ?? "")
    isGRPC = headers.first(name: "content-type")?.hasPrefix("application/grpc") == true
    token = headers.first(name: "authorization")
  }
}
