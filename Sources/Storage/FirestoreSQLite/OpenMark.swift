// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The mark beside a database that does not wait for the disk (`synchronous=NORMAL`) while it is open and was changed.
///
/// The mark holds the boot id of the system. A mark of an earlier boot means that the system stopped while the database
/// was open, so a power failure may have taken its last commits. A process that was killed leaves a mark of this boot;
/// its commits are in the system's cache and cannot be missing.
package struct OpenMark: Sendable {
  private let files: DatabaseFiles

  package init(_ files: DatabaseFiles) { self.files = files }

  /// Whether the system stopped while the database was open. Answers so once.
  package func takeCrash() -> Bool {
    guard let marked = Self.contents(files.openMark), marked != Self.bootID else { return false }
    unlink(files.openMark)
    return true
  }

  /// Sets the mark, durably. A failure costs the report of a later crash, so it does not fail the commit.
  package func set() {
    guard let boot = Self.bootID, Self.contents(files.openMark) != boot else { return }
    let descriptor = open(files.openMark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    let written = write(descriptor, boot, boot.count)
    let isSet = written == boot.count && fsync(descriptor) == 0
    close(descriptor)
    if isSet { files.syncDirectory() } else { unlink(files.openMark) }
  }

  /// Removes the mark, durably, after the database was closed.
  package func remove() {
    if unlink(files.openMark) == 0 { files.syncDirectory() }
  }

  private static let bootID = contents("/proc/sys/kernel/random/boot_id")

  private static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
  }
}
