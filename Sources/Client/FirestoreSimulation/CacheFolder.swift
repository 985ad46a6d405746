// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation

/// A folder among the temporary files for the durable caches of named clients, which its owner removes.
package struct CacheFolder: Sendable {
  private let folder: URL

  /// Makes the folder, which only this user may enter.
  /// - Throws: `internal` with the folder and the reason.
  package init() throws(RPCStatus) {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-clients-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw RPCStatus(.internal, "\(folder.path) cannot be made: \(error.localizedDescription)")
    }
  }

  /// The place of a client's cache.
  /// - Parameters:
  ///   - name: letters, digits and `-`.
  ///   - life: the number of times that the client was killed: each life has a folder of its own.
  package func path(of name: String, life: Int) -> String { folder.appending(path: "\(name)-\(life)").path }

  /// Copies the files of a client's cache as they are now, as a killed process would leave them, for its next life.
  /// - Throws: `internal` with the reason.
  package func copy(_ name: String, life: Int) throws(RPCStatus) {
    do {
      try FileManager.default.copyItem(atPath: path(of: name, life: life), toPath: path(of: name, life: life + 1))
    } catch {
      throw RPCStatus(.internal, "the cache cannot be copied: \(error.localizedDescription)")
    }
  }

  package func remove() {
    // The folder lies among temporary files, if it cannot be removed.
    try? FileManager.default.removeItem(at: folder)
  }
}
