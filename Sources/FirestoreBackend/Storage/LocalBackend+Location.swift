// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

extension LocalBackend {
  /// Whether a directory has data of a backend, in whatever state.
  package static func exists(in directory: String) -> Bool {
    DatabaseFiles(path: directory + "/" + BackendFile.name).exists
  }
}
