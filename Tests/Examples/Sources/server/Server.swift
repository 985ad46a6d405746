// SPDX-License-Identifier: Apache-2.0
import Hearth
import Hummingbird

/// Cities over HTTP: `GET /cities`, `GET /cities/SF`, `PUT /cities/SF`, `DELETE /cities/SF`.
@main
struct Server {
  static func main() async throws {
    let db = Firestore.firestore()
    let application = Application(
      router: router(db), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 8081)))
    // Ends on SIGINT and SIGTERM, when the requests under way are answered.
    try await application.runService()
    try await db.terminate()
  }

  static func router(_ db: Firestore) -> Router<BasicRequestContext> {
    let router = Router()
    let cities = db.collection("cities")

    router.get("cities") { _, _ in
      try await cities.order(by: "name").getDocuments().documents.map { try $0.data(as: City.self) }
    }
    router.get("cities/:id") { _, context in
      let city = try await cities.document(context.parameters.require("id")).getDocument(as: City?.self)
      guard let city else { throw HTTPError(.notFound) }
      return city
    }
    router.put("cities/:id") { request, context in
      let city = try await request.decode(as: City.self, context: context)
      // The answer waits for the backend, not for this process alone.
      let document = try cities.document(context.parameters.require("id"))
      try await document.enqueueData(from: city).acknowledged
      return HTTPResponse.Status.noContent
    }
    router.delete("cities/:id") { _, context in
      try await cities.document(context.parameters.require("id")).delete()
      return HTTPResponse.Status.noContent
    }
    return router
  }
}

struct City: ResponseCodable {
  var name: String
  var population: Int
}
