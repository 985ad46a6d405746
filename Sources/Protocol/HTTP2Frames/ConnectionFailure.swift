// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore

/// The reason why a connection cannot continue.
package enum ConnectionFailure {
  case violation(HTTP2Violation)
  /// The peer closed the connection in the middle of a frame, or before the peer had sent its settings.
  case cut(isWithin: Bool)
  case transport(any Error)

  /// The failure in words that can follow the peer's name.
  package var words: String {
    switch self {
    case .violation(let violation): "violated the HTTP/2 protocol: it sent \(violation)"
    case .cut(isWithin: true): "closed the connection in the middle of a frame"
    case .cut(isWithin: false): "closed the connection before HTTP/2 started"
    case .transport(let error as IOError): "broke the connection: \(String(cString: strerror(error.errnoCode)))"
    case .transport(let error): "broke the connection: \(error)"
    }
  }
}

/// The object that owns connections. A connection retains its owner until it is closed.
package protocol FrameConnectionOwner: AnyObject {
  /// Whether a read is in progress. Pending output is sent when the read ends.
  var isInTurn: Bool { get }
  /// Whether the connection must send nothing to the peer.
  var isSilent: Bool { get }
  func beginTurn()
  func endTurn()

  /// The client has opened a stream, which has no owner yet.
  func open(_ end: StreamEnd, _ block: HeaderBlock, isLast: Bool)
  /// The peer has changed its settings, such as the allowed number of streams.
  func changedSettings(_ connection: FrameConnection)
  /// The peer accepts no more streams, and has not processed any stream after `last`.
  func goesAway(_ connection: FrameConnection, last: Int)
  /// The connection can send more bytes again.
  func hasRoom(_ connection: FrameConnection)
  /// The program requests a graceful shutdown of the connection.
  func quiesce(_ connection: FrameConnection)
  func failed(_ connection: FrameConnection, _ failure: ConnectionFailure)
  func closed(_ connection: FrameConnection)
}

extension FrameConnectionOwner {
  package var isSilent: Bool { false }
  package func changedSettings(_ connection: FrameConnection) {}
  package func goesAway(_ connection: FrameConnection, last: Int) {}
  package func hasRoom(_ connection: FrameConnection) {}
  package func quiesce(_ connection: FrameConnection) {}
  package func failed(_ connection: FrameConnection, _ failure: ConnectionFailure) {}
}

/// The code for the reason why a stream or a connection ends (RFC 9113, 7).
package struct HTTP2Code: RawRepresentable, Hashable, CustomStringConvertible {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let noError = Self(rawValue: 0)
  package static let protocolError = Self(rawValue: 1)
  package static let flowControlError = Self(rawValue: 3)
  package static let settingsTimeout = Self(rawValue: 4)
  package static let streamClosed = Self(rawValue: 5)
  package static let frameSizeError = Self(rawValue: 6)
  package static let refusedStream = Self(rawValue: 7)
  package static let cancel = Self(rawValue: 8)
  package static let compressionError = Self(rawValue: 9)
  package static let enhanceYourCalm = Self(rawValue: 11)
  package static let inadequateSecurity = Self(rawValue: 12)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  package var description: String {
    Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "error \(rawValue)"
  }
}

/// A violation of HTTP/2 by the peer. The description can follow the words "it sent".
package struct HTTP2Violation: Error, Hashable, CustomStringConvertible {
  package let code: HTTP2Code
  package let description: String

  package init(_ code: HTTP2Code, _ description: String) { (self.code, self.description) = (code, description) }

  /// The violation for a peer that began a TLS connection where HTTP/2 was expected.
  package static let tls = HTTP2Violation(.protocolError, "TLS")

  /// The violation for a connection-level frame that has a stream number.
  static func onStream(_ frame: Frame) -> HTTP2Violation {
    let kind = frame.kind.map { "\($0)" } ?? "unknown"
    return HTTP2Violation(.protocolError, "a frame of the kind \(kind) on stream \(frame.stream)")
  }

  static func size(_ frame: Frame) -> HTTP2Violation {
    let kind = frame.kind.map { "\($0)" } ?? "unknown"
    return HTTP2Violation(.frameSizeError, "a frame of the kind \(kind) with an invalid length")
  }
}
