// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A Unix-domain socket in a directory, for the processes of one user (mode 0600).
///
/// A socket address can contain a path of at most 107 bytes. A longer path is accessed through a descriptor of the
/// directory.
package final class LocalSocket: Sendable {
  package let path: String
  private let name: String
  private let directory: CInt

  /// - Parameter directory: an existing directory.
  package init(_ name: String, in directory: String) throws(LocalSocketError) {
    path = directory + "/" + name
    self.name = name
    self.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard self.directory >= 0 else { throw LocalSocketError(directory, .system(errno)) }
  }

  deinit { close(directory) }

  /// A path that is short enough for a socket address. It is valid in this process while this object exists.
  package var address: String {
    path.utf8.count <= Self.longestAddress ? path : "/proc/self/fd/\(directory)/\(name)"
  }

  private static let longestAddress = 107

  /// Removes a socket with the same name that an ended process did not remove. Then starts to listen.
  /// - Precondition: no other process uses the name.
  /// - Returns: a nonblocking descriptor that the caller closes.
  package func listen() throws(LocalSocketError) -> CInt {
    if let isSocket {
      guard isSocket else { throw LocalSocketError(path, .noSocket) }
      unlink(address)
    }
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw LocalSocketError(path, .system(errno)) }
    // Setting the permissions before the socket has a name prevents other users from connecting.
    fchmod(descriptor, 0o600)
    guard withAddress({ bind(descriptor, $0, $1) }) == 0, chmod(address, 0o600) == 0,
      Glibc.listen(descriptor, 128) == 0
    else {
      let reason = errno
      close(descriptor)
      throw LocalSocketError(path, .system(reason))
    }
    shareWithOwnerOfDirectory()
    return descriptor
  }

  /// Makes the directory's owner the owner of the socket. Otherwise, that user could not connect to the socket of a
  /// process that runs as root.
  private func shareWithOwnerOfDirectory() {
    var information = stat()
    guard geteuid() == 0, fstat(directory, &information) == 0, information.st_uid != 0 else { return }
    lchown(address, information.st_uid, information.st_gid)
  }

  /// The users whose processes are trusted as peers.
  package var trustedUsers: Set<UInt32> {
    var information = stat()
    return SocketPeer.trustedUsers(owner: fstat(directory, &information) == 0 ? information.st_uid : nil)
  }

  /// Removes the file with the socket's name if it is a socket.
  /// - Precondition: no other process uses the name.
  package func remove() { if isSocket == true { unlink(address) } }

  /// Whether the file with this name is a socket; `nil` if there is no such file.
  private var isSocket: Bool? {
    var information = stat()
    return lstat(address, &information) == 0 ? information.st_mode & S_IFMT == S_IFSOCK : nil
  }

  package enum Approach {
    /// Connected. The caller closes the descriptor.
    case connected(CInt)
    /// No process listens. The value is the system's error number.
    case nobody(Int32)
    /// A process of an untrusted user listens. The value is the user id.
    case stranger(UInt32)
  }

  /// Connects, and checks the user of the process that accepts the connection.
  package func connect() -> Approach {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .nobody(errno) }
    // Connecting fails after one second if the listener accepts no connections and its queue is full.
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
      let reason = errno
      close(descriptor)
      return .nobody(reason)
    }
    let peer = SocketPeer(of: descriptor)
    guard let peer, trustedUsers.contains(peer.user) else {
      close(descriptor)
      return .stranger(peer?.user ?? .max)
    }
    return .connected(descriptor)
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

/// The process at the other end of a local socket, as in the system's `struct ucred`.
package struct SocketPeer: Sendable {
  package var process: Int32 = 0
  package var user: UInt32 = .max
  package var group: UInt32 = .max

  package init() {}

  /// - Returns: `nil` if the system does not identify the process.
  package init?(of descriptor: CInt) {
    var size = socklen_t(MemoryLayout<Self>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &self, &size) == 0 else { return nil }
  }

  /// Whether the process belongs to a trusted user: this user or root.
  package var isTrusted: Bool { Self.trustedUsers().contains(user) }

  /// The trusted users: this user and root, because root can do everything anyway. Root also trusts the owner of the
  /// directory, because the owner can replace everything in it.
  package static func trustedUsers(of user: UInt32 = geteuid(), owner: UInt32? = nil) -> Set<UInt32> {
    var users: Set<UInt32> = [user, 0]
    if user == 0, let owner { users.insert(owner) }
    return users
  }
}

/// The reason why a socket cannot be used.
package struct LocalSocketError: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The system's error number.
    case system(Int32)
    /// The file with the socket's name is not a socket.
    case noSocket
  }

  package var path: String
  package var reason: Reason

  init(_ path: String, _ reason: Reason) { (self.path, self.reason) = (path, reason) }

  /// The reason in words. Does not contain the path.
  package var text: String {
    switch reason {
    case .system(let number): String(cString: strerror(number))
    case .noSocket: "is not a socket. Move it away"
    }
  }
}
