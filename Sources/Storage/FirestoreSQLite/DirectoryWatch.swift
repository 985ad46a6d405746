// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// Tells of names that are made, removed or moved in a directory, by inotify(7): waiting wakes no processor. Changes that
/// other machines make on a shared file system are not told.
final class DirectoryWatch: Sendable {
  private static let names = UInt32(
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
  /// The time within which changes count as one.
  private static let pause = DispatchTimeInterval.milliseconds(100)

  private let descriptor: Int32
  private let watch: Int32
  private let hasEnded = Atomic(false)

  /// - Parameters:
  ///   - directory: the descriptor of the directory, which is watched wherever it is moved.
  ///   - changed: called on some thread soon after a change, once for a burst; not any more once the directory is gone.
  /// - Returns: `nil` if the system can watch no more directories.
  init?(_ directory: Int32, changed: @escaping @Sendable () -> Void) {
    // O_NONBLOCK and O_CLOEXEC are IN_NONBLOCK and IN_CLOEXEC, which Swift does not import as numbers.
    let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let watch = inotify_add_watch(descriptor, "/proc/self/fd/\(directory)", Self.names)
    guard watch >= 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.watch = watch
    let queue = DispatchQueue.global(qos: .utility)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in
      let isLast = Self.drain(descriptor)
      // The end of the watch, which has an event of its own, ends the source too.
      guard let self else { return source.cancel() }
      if isLast {
        hasEnded.store(true, ordering: .relaxed)
        source.cancel()
      }
      queue.asyncAfter(deadline: .now() + Self.pause, execute: changed)
    }
    source.activate()
  }

  deinit {
    if !hasEnded.load(ordering: .relaxed) { inotify_rm_watch(descriptor, watch) }
  }

  /// Reads all events that wait.
  /// - Returns: whether no more will come.
  private static func drain(_ descriptor: Int32) -> Bool {
    var isLast = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var position = 0
        while position + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.load(fromByteOffset: position, as: inotify_event.self)
          if event.mask & UInt32(IN_IGNORED) != 0 { isLast = true }
          position += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
    return isLast
  }
}
