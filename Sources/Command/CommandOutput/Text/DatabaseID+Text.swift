// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension DatabaseID {
  /// The project and the database, as in `demo/(default)`.
  package var text: String { "\(project)/\(database)" }
}
