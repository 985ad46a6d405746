// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import CommandTransfer
@testable import HearthCommand

@Suite("Hints for empty results")
struct EmptyAnswerTests {
  private let backend: LocalBackend

  init() throws {
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private func datastore(_ database: DatabaseID) -> InProcessDatastore {
    InProcessDatastore(backend: backend, database: database)
  }

  private func note(_ path: String, in database: DatabaseID) async -> String? {
    await EmptyAnswer(datastore(database), database).note(at: ResourcePath(path))
  }

  @Test("Data in another project or database is reported with the options for it")
  func elsewhere() async throws {
    let (hearth, app) = (DatabaseID(project: "hearth"), DatabaseID(project: "my-app", database: "two"))
    #expect(await note("c", in: hearth) == nil)
    _ = try await datastore(app).commit([set("c/1", ["x": 1])])
    for path in ["", "c"] {
      #expect(
        await note(path, in: hearth)
          == "the database hearth/(default) is empty, but there is data in my-app/two. Add --project my-app --database two."
      )
    }
    #expect(await note("c", in: app) == nil)
    #expect(try await datastore(hearth).databases(of: nil) == [app])
    #expect(try await datastore(hearth).databases(of: "hearth") == [])
  }

  @Test("A missing collection is reported with the nearest name")
  func mistyped() async throws {
    _ = try await datastore(database).commit([set("users/ada", [:]), set("users/ada/orders/1", [:])])
    #expect(await note("user", in: database) == "collection user does not exist. Did you mean users?")
    #expect(await note("user/ada", in: database) == "collection user does not exist. Did you mean users?")
    #expect(
      await note("users/ada/order", in: database)
        == "collection users/ada/order does not exist. Did you mean users/ada/orders?")
    #expect(await note("zzzzzz", in: database) == "collection zzzzzz does not exist.")
    #expect(await note("users", in: database) == nil)
    #expect(await note("users/bob", in: database) == nil)
  }
}
