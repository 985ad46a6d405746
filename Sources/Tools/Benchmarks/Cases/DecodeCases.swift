// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// Empty in a build without gRPC, because these cases need the public API.
    static let decodeCases: [BenchmarkCase] = []
  }
#else
  import BenchmarkResults
  import Foundation
  import Hearth

  extension BenchmarkCase {
    /// Benchmark cases for decoding documents to the types of a program.
    static let decodeCases = [
      BenchmarkCase(
        name: "codable-decode", summary: "data(as:) of documents of 5 simple fields, of 12 with a map; and encoding"
      ) { bench in
        let server = try await EndToEnd(bench)
        let path = bench.newPath()
        defer { bench.remove(path) }
        let client = server.client(path)
        try await server.commitSimple(bench.documents.prefix(10_000), into: "simple")
        let simpleDocuments = try await client.collection("simple").getDocuments().documents
        let documents = try await client.collection(EndToEnd.collection).limit(to: 10_000).getDocuments().documents
        var simple = Reading(variant: "5 fields", unit: .documentsPerSecond, goal: 500_000, samples: [])
        var whole = Reading(variant: "12 fields", unit: .documentsPerSecond, samples: [])
        var encoding = Reading(variant: "encode 5 fields", unit: .documentsPerSecond, samples: [])
        for _ in 0..<bench.repetitions {
          let (sample, cities) = try measure(count: simpleDocuments.count) {
            try simpleDocuments.map { try $0.data(as: SimpleCity.self) }
          }
          simple.samples.append(sample)
          whole.samples.append(
            try measure(count: documents.count) {
              for document in documents { _ = try document.data(as: City.self) }
            }.sample)
          let encoder = Firestore.Encoder()
          encoding.samples.append(
            try measure(count: cities.count) { for city in cities { _ = try encoder.encode(city) } }.sample)
        }
        try await client.terminate()
        return [simple, whole, encoding]
      }
    ]
  }

  /// A typical document with some texts and numbers.
  private struct SimpleCity: Codable {
    var name: String
    var state: String
    var population: Int
    var rating: Double
    var isCapital: Bool
  }

  private struct City: Codable {
    struct Location: Codable {
      var latitude: Double
      var longitude: Double
      var zone: String
    }

    @DocumentID var id: String?
    var name: String
    var state: String
    var country: String
    var population: Int
    var elevation: Int
    var area: Double
    var rating: Double
    var isCapital: Bool
    var founded: Date
    var description: String
    var location: Location
    var tags: [String]
  }
#endif
