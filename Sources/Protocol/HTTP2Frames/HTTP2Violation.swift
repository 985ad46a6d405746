// SPDX-License-Identifier: Apache-2.0

/// The reason for which a stream or a connection ends (RFC 9113, 7).
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

/// A thing that a peer sent and that HTTP/2 does not allow, in words that go on from "it sent".
package struct HTTP2Violation: Error, Hashable, CustomStringConvertible {
  package let code: HTTP2Code
  package let description: String

  package init(_ code: HTTP2Code, _ description: String) { (self.code, self.description) = (code, description) }

  /// The beginning of TLS, where HTTP/2 was expected.
  package static let tls = HTTP2Violation(.protocolError, "TLS")

  /// A frame about the connection that names a stream.
  static func onStream(_ frame: Frame) -> HTTP2Violation {
    let kind = frame.kind.map { "\($0)" } ?? "unknown"
    return HTTP2Violation(.protocolError, "a frame of the kind \(kind) on stream \(frame.stream)")
  }

  static func size(_ frame: Frame) -> HTTP2Violation {
    let kind = frame.kind.map { "\($0)" } ?? "unknown"
    return HTTP2Violation(.frameSizeError, "a frame of the kind \(kind) whose length is wrong")
  }
}
