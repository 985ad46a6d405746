// SPDX-License-Identifier: Apache-2.0
import Hearth
import Hummingbird
import SharedModel

/// Cities over HTTP: `GET /cities`, `GET /cities?from=500000`, `GET /cities/SF`, `PUT /cities/SF`, `DELETE /cities/SF`.
/// While its backend is away it answers from its cache, which is on disk; `PUT` and `DELETE` wait.
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

    router.get("cities") { request, _ in
      let least = request.uri.queryParameters["from"].flatMap { Int($0) }
      let query = least.map { City.large(in: db, from: $0) } ?? cities.order(by: "name")
      return try await query.getDocuments().documents.map { CityBody(try $0.data(as: City.self)) }
    }
    router.get("cities/:id") { _, context in
      let city = try await cities.document(context.parameters.require("id")).getDocument(as: City?.self)
      guard let city else { throw HTTPError(.notFound) }
      return CityBody(city)
    }
    router.put("cities/:id") { request, context in
      let body = try await request.decode(as: CityBody.self, context: context)
      let city = City(name: body.name, population: body.population)
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

/// A city as it is asked for and answered: without what belongs to the store.
struct CityBody: ResponseCodable {
  var id: String?
  var name: String
  var population: Int

  init(_ city: City) { (id, name, population) = (city.id, city.name, city.population) }
}
