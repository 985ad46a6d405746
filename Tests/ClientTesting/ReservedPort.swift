// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A port of the loopback device that is kept as long as this lives: bound, so that the system gives it to nobody, and
/// not listening, so that whoever connects is refused. A server that asks for just this port gets it, again and again.
package final class ReservedPort {
  package struct Failure: Error {
    package let errno: Int32
  }

  package let number: Int
  private let descriptor: Int32

  package init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
      }
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    if status != 0 { throw Failure(errno: errno) }
  }

  deinit { close(descriptor) }
}
