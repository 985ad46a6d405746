// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreSQLite
import Glibc

/// The socket beside the data, on which the process that has the data open serves it to the others of its user (0600).
///
/// The address of a socket has room for 107 bytes. A longer path is reached through a descriptor of the directory.
final class DataSocket: Sendable {
  let path: String
  private let directory: CInt

  /// - Parameter directory: exists.
  init(in directory: String) throws(StoreError) {
    path = directory + "/" + LocalBackend.socketName
    self.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard self.directory >= 0 else {
      throw StoreError(
        .notWritable, "The data directory \(directory) cannot be opened: \(StoreError.reason(errno)).")
    }
  }

  deinit { close(directory) }

  /// The path, short enough for an address; good in this process as long as this value lives.
  var address: String {
    path.utf8.count <= Self.longestAddress ? path : "/proc/self/fd/\(directory)/\(LocalBackend.socketName)"
  }

  private static let longestAddress = 107

  /// Listens, in place of a process that is gone: what is left of its socket is removed.
  /// - Precondition: this process has locked the directory.
  /// - Returns: a descriptor that is the caller's to close.
  /// - Throws: `notWritable` where no socket can be made.
  func listen() throws(StoreError) -> CInt {
    if let isSocket {
      guard isSocket else { throw failure("is no socket. Move it away") }
      unlink(address)
    }
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw failure(StoreError.reason(errno)) }
    // Before it has a name: nobody else finds it open.
    fchmod(descriptor, 0o600)
    guard withAddress({ bind(descriptor, $0, $1) }) == 0, chmod(address, 0o600) == 0,
      Glibc.listen(descriptor, 128) == 0
    else {
      let reason = StoreError.reason(errno)
      close(descriptor)
      throw failure(reason)
    }
    shareWithOwnerOfDirectory()
    return descriptor
  }

  /// Root may use another user's data, who is not locked out by that.
  private func shareWithOwnerOfDirectory() {
    var information = stat()
    guard geteuid() == 0, fstat(directory, &information) == 0, information.st_uid != 0 else { return }
    lchown(address, information.st_uid, information.st_gid)
  }

  private func failure(_ reason: String) -> StoreError {
    StoreError(.notWritable, "The data cannot be shared with other processes: \(path): \(reason).")
  }

  /// Removes the name of the socket.
  /// - Precondition: this process has locked the directory.
  func remove() { if isSocket == true { unlink(address) } }

  /// Whether what has the name is a socket; `nil` if nothing has it.
  private var isSocket: Bool? {
    var information = stat()
    return lstat(address, &information) == 0 ? information.st_mode & S_IFMT == S_IFSOCK : nil
  }

  enum Approach {
    /// A descriptor that is the caller's to close.
    case connected(CInt)
    /// Nobody listens, with the system's reason.
    case nobody(Int32)
    /// Somebody else's process listens.
    case stranger(UInt32)
  }

  /// Connects, and looks who is at the other end.
  func connect() -> Approach {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .nobody(errno) }
    // One that does not accept, with many who wait already, is not waited for.
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
      let reason = errno
      close(descriptor)
      return .nobody(reason)
    }
    var (peer, size) = (Peer(), socklen_t(MemoryLayout<Peer>.size))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer.isTrusted else {
      close(descriptor)
      return .stranger(peer.user)
    }
    return .connected(descriptor)
  }

  /// The system's `struct ucred`.
  private struct Peer {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max

    /// This user's, or root's; root may use another user's data.
    var isTrusted: Bool { user == geteuid() || user == 0 || geteuid() == 0 }
  }

  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(address.utf8.prefix(Self.longestAddress))
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
