// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc

/// Reports when a file in one of some folders changes, by inotify(7): waiting costs nothing. A missing folder is
/// noticed when it is made, and a replaced one too.
@MainActor
package final class FileWatch {
  /// The time within which changes count as one: editors cause a burst of events.
  private static let pause = DispatchTimeInterval.milliseconds(60)

  private static let contents = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF)

  private let descriptor: CInt
  private let folders: [String]
  private let source: any DispatchSourceRead
  private var isPending = false
  private let changed: @MainActor () -> Void

  /// - Parameter changed: called after a change, at most once per burst.
  /// - Returns: `nil` if the system can watch no more files.
  package init?(folders: [String], changed: @escaping @MainActor () -> Void) {
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

  /// Ends the watch; no change is reported any more.
  package func stop() { source.cancel() }

  /// Watches each folder, or the nearest existing one above it. A folder that is already watched stays so.
  private func addWatches() {
    for folder in folders {
      var path = folder
      while path.count > 1, !FileManager.default.fileExists(atPath: path) {
        path = URL(filePath: path).deletingLastPathComponent().path
      }
      let isThere = path == folder
      // Folders above are watched only for the next folder's creation, not for every file that is written there.
      let events = isThere ? Self.contents : UInt32(IN_CREATE | IN_MOVED_TO)
      // Another folder may have been found missing above, or below, this one: what is watched for it stays.
      let flags = UInt32(IN_MASK_ADD) | (isThere ? 0 : UInt32(IN_ONLYDIR))
      if path.count > 1 { inotify_add_watch(descriptor, path, events | flags) }
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
