// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether data may be kept in a directory that exists already.
///
/// Whoever can write into it could replace a file; whoever can read in it could read a file that is not private itself.
package struct DirectoryPermissions: Hashable, Sendable {
  var owner: uid_t
  var mode: mode_t
  /// Whether it holds anything that is not the store's.
  var isShared: Bool

  package init(owner: UInt32, mode: UInt32, isShared: Bool) {
    self.owner = owner
    self.mode = mode
    self.isShared = isShared
  }

  package enum Verdict: Hashable, Sendable {
    case use
    /// To 0700.
    case narrow
    /// With what is wrong.
    case refuse(String)
  }

  /// Root may use another user's directory, as in a container with a volume from outside, and leaves its mode alone.
  package func verdict(for user: UInt32) -> Verdict {
    let (isWritable, isReadable) = (mode & 0o022 != 0, mode & 0o077 != 0)
    guard owner == user else {
      if user != 0 { return .refuse("it belongs to another user (\(owner))") }
      return isWritable ? .refuse("others than its owner may write to it (mode \(Self.text(mode)))") : .use
    }
    if !isReadable { return .use }
    // Something else lives there as well, which others may have to reach: the store's files are private themselves.
    let isOfOthers = isShared || mode & S_ISVTX != 0
    if !isOfOthers { return .narrow }
    return isWritable ? .refuse("others may write to it (mode \(Self.text(mode)))") : .use
  }

  /// - Returns: what was changed, for people.
  static func secure(_ path: String, _ place: String, own: [String]) throws(StoreError) -> String? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let isFile = errno == ENOTDIR
      throw StoreError(
        .notWritable,
        "The \(place) \(isFile ? "is not a directory" : "cannot be opened: \(StoreError.reason(errno))").")
    }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else {
      throw StoreError(.notWritable, "The \(place) cannot be used: \(StoreError.reason(errno)).")
    }
    let mode = information.st_mode & 0o7777
    let permissions = DirectoryPermissions(
      owner: information.st_uid, mode: mode, isShared: holdsMore(path, than: own))
    switch permissions.verdict(for: geteuid()) {
    case .use: return nil
    case .refuse(let reason):
      throw StoreError(
        .notPrivate, "The \(place) is not private: \(reason). Mend that with chmod, or choose another directory.")
    case .narrow:
      guard fchmod(descriptor, 0o700) == 0 else {
        throw StoreError(
          .notPrivate, "The \(place) is open to others and cannot be narrowed: \(StoreError.reason(errno)).")
      }
      return "The \(place) was open to others (mode \(text(mode))); it is 0700 now."
    }
  }

  private static func holdsMore(_ path: String, than own: [String]) -> Bool {
    guard let directory = opendir(path) else { return true }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != "..", !own.contains(where: { name.hasPrefix($0) }) { return true }
    }
    return false
  }

  static func text(_ mode: mode_t) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
