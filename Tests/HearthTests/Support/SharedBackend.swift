// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreModel
import FirestoreProtocol
import Foundation
import Hearth

/// An in-memory backend for clients that are told which clock to use.
struct SharedBackend {
  let clock = HastyClock()
  private let backend = Backend.inMemory(named: UUID().uuidString)

  var datastore: any Datastore { backend.connect(to: DatabaseID(project: "hearth")) }

  /// A new client with a cache of its own.
  func client(named name: String = UUID().uuidString) -> Firestore {
    .firestore(app: FirestoreApp(name: name, backend: .datastore(datastore, clock: clock)))
  }
}
