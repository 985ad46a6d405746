// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreSQLite
import LocalSockets

/// The socket beside the data, on which the process that has the data open serves it to the others of its user.
final class DataSocket: Sendable {
  private let socket: LocalSocket

  /// - Parameter directory: the directory, which exists.
  init(in directory: String) throws(StoreError) {
    do throws(LocalSocketError) {
      socket = try LocalSocket(LocalBackend.socketName, in: directory)
    } catch {
      throw StoreError(.notWritable, "The data directory \(directory) cannot be opened: \(error.text).")
    }
  }

  /// The path, short enough for an address; good in this process as long as this value lives.
  var address: String { socket.address }

  /// The users whose processes may share the data.
  var trustedUsers: Set<UInt32> { socket.trustedUsers }

  /// Listens, and replaces a socket that an ended process left.
  /// - Precondition: this process has locked the directory.
  /// - Returns: a descriptor that the caller closes.
  /// - Throws: `notWritable` if no socket can be made.
  func listen() throws(StoreError) -> CInt {
    do throws(LocalSocketError) {
      return try socket.listen()
    } catch {
      throw StoreError(
        .notWritable, "The data cannot be shared with other processes: \(error.path): \(error.text).")
    }
  }

  /// Removes the name of the socket.
  /// - Precondition: this process has locked the directory.
  func remove() { socket.remove() }

  /// Connects, and finds out which user's process is at the other end.
  func connect() -> LocalSocket.Approach { socket.connect() }
}
