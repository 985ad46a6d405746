// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc

/// Says when a file in one of some folders changes, by inotify(7): waiting costs nothing. A folder that does not exist
/// is seen when it is made, as is one that is replaced.
@MainActor
final class FileWatch {
  /// What editors do is a burst of events: all within this time are one change.
  private static let pause = DispatchTimeInterval.milliseconds(60)

  private static let contents = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF)

  private let descriptor: CInt
  private let folders: [String]
  private let source: any DispatchSourceRead
  private var isPending = false
  private let changed: @MainActor () -> Void

  /// - Parameter changed: called after a change, at most once per burst.
  /// - Returns: `nil` where the system watches no more files.
  init?(folders: [String], changed: @escaping @MainActor () -> Void) {
    // O_NONBLOCK and O_CLOEXEC are IN_NONBLOCK and IN_CLOEXEC, which Swift does not import as numbers.
    descriptor = inotify_init1(CInt(O_NONBLOCK | O_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    self.folders = folders
    self.changed = changed
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    let opened = descriptor
    source.setCancelHandler { close(opened) }
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated { self?.drain() }
    }
    addWatches()
    source.activate()
  }

  /// Gives the watch back; nothing is told any more.
  func stop() { source.cancel() }

  /// Watches each folder, or the nearest one above it that exists. A folder that is watched already stays so.
  private func addWatches() {
    for folder in folders {
      var path = folder
      while path.count > 1, !FileManager.default.fileExists(atPath: path) {
        path = URL(filePath: path).deletingLastPathComponent().path
      }
      let isThere = path == folder
      // Above the folder only what makes it counts, not every file that some program writes there.
      let events = isThere ? Self.contents : UInt32(IN_CREATE | IN_MOVED_TO)
      if path.count > 1 { inotify_add_watch(descriptor, path, events | (isThere ? 0 : UInt32(IN_ONLYDIR))) }
    }
  }

  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    while read(descriptor, &bytes, bytes.count) > 0 {}
    guard !isPending else { return }
    isPending = true
    DispatchQueue.main.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.isPending = false
        self.addWatches()
        self.changed()
      }
    }
  }
}
