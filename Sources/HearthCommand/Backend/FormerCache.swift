// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import Logging

/// The cache that a version before kept for the same project and database. It was named by these alone and did not note
/// its backend, so that nobody knows for certain whose its writes are: it is left where it is.
enum FormerCache {
  /// - Returns: what somebody should know whose writes wait there; `nil` if none do.
  static func notice(about path: String) -> String? {
    guard LocalStore.exists(in: path) else { return nil }
    let log = Logger(label: "hearth.cache")
    do throws(LocalStoreError) {
      let count = try LocalStore.ownerlessWriteCount(in: path)
      guard count > 0 else {
        log.info("the cache of an earlier version is not used", metadata: ["path": "\(path)"])
        return nil
      }
      return
        "\(count == 1 ? "A write waits" : "\(count) writes wait") in the cache of an earlier version, which did not note "
        + "for which backend. If for this one, 'hearth --cache \(path)' sends \(count == 1 ? "it" : "them")."
    } catch {
      log.info("the cache of an earlier version cannot be read", metadata: ["path": "\(path)", "error": "\(error)"])
      return nil
    }
  }
}
