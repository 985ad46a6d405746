// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The service manager that started this process and waits for a notification, such as systemd for a unit with
/// `Type=notify`. The notification is a datagram with lines `NAME=value` to the socket in `NOTIFY_SOCKET`
/// (sd_notify(3)).
struct ServiceManager: Hashable, Sendable {
  /// A message to the service manager.
  enum Notice: Hashable, Sendable {
    /// Connections are accepted. The text describes the state for people.
    case ready(String)
    /// The shutdown has begun, and running requests are finishing.
    case stopping

    /// The contents of the datagram. Line breaks in the text are replaced, because a new line would be another
    /// assignment.
    var text: String {
      func line(_ text: String) -> String { String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 }) }
      return switch self {
      case .ready(let status): "READY=1\nSTATUS=\(line(status))"
      case .stopping: "STOPPING=1\nSTATUS=Finishing running requests"
      }
    }
  }

  /// The value of the variable: a path, or `@` followed by an abstract name.
  private let address: String

  /// - Returns: `nil` if the variable is unset or empty.
  /// - Throws: if the address is of another kind or too long.
  init?(environment: [String: String]) throws(ServiceManagerError) {
    guard let address = environment[ServiceManagerError.variable], !address.isEmpty else { return nil }
    guard let first = address.first, first == "/" || first == "@", address.utf8.count > 1 else {
      throw ServiceManagerError(address, .form)
    }
    guard address.utf8.count <= Self.longestAddress else { throw ServiceManagerError(address, .length) }
    self.address = address
  }

  /// Sends the notification. Waits at most 1 s if the receiver's queue is full.
  func tell(_ news: Notice) throws(ServiceManagerError) {
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ServiceManagerError(address, .system(errno)) }
    defer { close(descriptor) }
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let text = Array(news.text.utf8)
    let count = withAddress { sendto(descriptor, text, text.count, CInt(MSG_NOSIGNAL), $0, $1) }
    if count < 0 { throw ServiceManagerError(address, .system(errno)) }
  }

  /// The size of `sun_path`. A path of exactly this size needs no terminating zero.
  private static let longestAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    // The name of an abstract socket begins with a zero byte and ends with the address.
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + bytes.count } ?? 0
    return withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }
}

/// The reason why the service manager cannot be notified.
struct ServiceManagerError: Error, Hashable, Sendable {
  enum Reason: Hashable, Sendable {
    case form
    case length
    /// An error number of the operating system.
    case system(Int32)
  }

  static let variable = "NOTIFY_SOCKET"

  var address: String
  var reason: Reason

  init(_ address: String, _ reason: Reason) { (self.address, self.reason) = (address, reason) }

  /// One or two sentences about the reason and its consequence.
  var text: String {
    let cause =
      switch reason {
      case .form: "is neither a path nor an abstract name (@NAME)"
      case .length: "is longer than the address of a socket"
      case .system(let number): "cannot be notified: \(String(cString: strerror(number)))"
      }
    return "\(Self.variable)=\(address) \(cause). Serving continues, but a waiting service manager is not notified."
  }
}
