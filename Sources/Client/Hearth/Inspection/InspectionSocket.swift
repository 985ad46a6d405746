// SPDX-License-Identifier: Apache-2.0
import CSocketNames
import Dispatch
import FirestoreInspection
import Glibc
import LocalSockets
import Synchronization

/// The socket on which a client is watched, as long as the client or the process lives: its name goes when the process
/// exits, and when SIGTERM, SIGINT or SIGHUP ends one that leaves these signals to their default action.
final class InspectionSocket: Sendable {
  private struct Registry {
    var sockets: [InspectionAddress: LocalSocket] = [:]
    /// The numbers of the names, for signal handlers.
    var numbers: [InspectionAddress: CInt] = [:]
    var removesAtExit = false
  }

  /// The sockets of this process, whose names are removed when it ends.
  private static let registry = Mutex(Registry())

  let descriptor: CInt
  private let address: InspectionAddress

  /// Opens a socket with a name that is free.
  /// - Throws: the reason why there is no socket, in one line.
  init(in folder: InspectionFolder) throws(InspectionFolder.Failure) {
    try folder.prepare()
    let opened = Self.registry.withLock { registry -> Result<(CInt, InspectionAddress), InspectionFolder.Failure> in
      var address = InspectionAddress(process: getpid())
      while registry.sockets[address] != nil { address.client += 1 }
      return Result { () throws(InspectionFolder.Failure) in
        do throws(LocalSocketError) {
          let socket = try folder.socket(address)
          let descriptor = try socket.listen()
          registry.sockets[address] = socket
          registry.numbers[address] = csn_remember(socket.path)
          return (descriptor, address)
        } catch {
          throw InspectionFolder.Failure(message: "\(error.path): \(error.text).")
        }
      }
    }
    (descriptor, address) = try opened.get()
    Self.removeAtExit()
  }

  /// Removes the socket's name, so that no watcher finds it any more. The caller closes the descriptor.
  func remove() {
    let socket = Self.registry.withLock { registry in
      if let number = registry.numbers.removeValue(forKey: address) { csn_forget(number) }
      return registry.sockets.removeValue(forKey: address)
    }
    socket?.remove()
  }

  private static func removeAtExit() {
    let isFirst = registry.withLock { registry in
      defer { registry.removesAtExit = true }
      return !registry.removesAtExit
    }
    guard isFirst else { return }
    atexit { InspectionSocket.removeAll() }
  }

  private static func removeAll() {
    // A child of this process must not remove the names when it ends.
    registry.withLock { registry in
      for (address, socket) in registry.sockets where address.process == getpid() { socket.remove() }
      registry.sockets = [:]
    }
  }
}
