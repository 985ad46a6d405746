// SPDX-License-Identifier: Apache-2.0
import Glibc

extension LocalBackend {
  /// Whether a directory has data of a backend, in whatever state.
  package static func exists(in directory: String) -> Bool {
    ["", "-wal"].contains { access(directory + "/backend.sqlite3" + $0, F_OK) == 0 }
  }
}
