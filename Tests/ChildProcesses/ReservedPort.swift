// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A port of 127.0.0.1 that the system gives nobody else while the value lives, so that a server may end and begin again
/// on it beside other tests. Until a server that sets `SO_REUSEADDR` listens on it, connections are refused.
package final class ReservedPort: Sendable {
  private let socket: CInt
  package let number: Int

  package init() throws {
    let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var (isReused, address) = (CInt(1), sockaddr_in())
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
      return bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
    }
    guard isBound else {
      close(descriptor)
      throw Failure("no free port: \(String(cString: strerror(errno)))")
    }
    socket = descriptor
    number = Int(address.sin_port.bigEndian)
  }

  deinit { close(socket) }
}
