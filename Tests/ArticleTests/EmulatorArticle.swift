// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Emulators and servers' runs")
  func emulator() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in Emulator.md:
      db.useEmulator(withHost: "127.0.0.1", port: 8080)
      print(db.settings.host, db.settings.isSSLEnabled)
      // Until here.
      #expect(db.settings.host == "127.0.0.1:8080" && !db.settings.isSSLEnabled)
      // Shown in Emulator.md:
      let production = FirestoreApp(
        name: "app", projectID: "my-project", backend: .remote(.file("service-account.json")))
      let cloud = Firestore.firestore(app: production)
      print(cloud.settings.host)
      // Until here.
      #expect(cloud.settings.host == "firestore.googleapis.com" && cloud.settings.isSSLEnabled)
    }
    // Shown in Emulator.md:
    let session = UserSession()
    let notes = FirestoreApp(name: "notes", projectID: "p", backend: .remote(), credentials: session)
    try session.signIn(mockUser: "alice", claims: ["admin": true])
    print(notes.credentials?.userID ?? "nobody")
    session.signOut()
    // Until here.
    #expect(notes.credentials?.userID == nil)
  }
}
