// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A bundle being written in the format that the backend's tools write.
struct BundleText {
  var id = "cities-bundle"
  var database = "projects/hearth/databases/(default)"
  var createTime = "2026-01-02T00:00:00Z"
  /// The length and count in the metadata, if they are not to be the right ones.
  var announcedDocuments: Int?
  private var elements: [String] = []
  private var documentCount = 0

  mutating func addQuery(named name: String, collection: String, limit: Int? = nil) {
    let limit = limit.map { #", "limit": {"value": \#($0)}"# } ?? ""
    elements.append(
      """
      {"namedQuery": {"name": "\(name)", "readTime": "2026-01-01T00:00:00Z", "bundledQuery": {
        "parent": "\(database)/documents", "structuredQuery": {"from": [{"collectionId": "\(collection)"}]\(limit)},
        "limitType": "FIRST"}}}
      """)
  }

  mutating func addDocument(_ path: String, population: Int, queries: [String] = []) {
    documentCount += 1
    let name = "\(database)/documents/\(path)"
    let queries = queries.map { "\"\($0)\"" }.joined(separator: ", ")
    elements.append(
      """
      {"documentMetadata": {"name": "\(name)", "readTime": "2026-01-01T00:00:00Z", "exists": true,
        "queries": [\(queries)]}}
      """)
    elements.append(
      """
      {"document": {"name": "\(name)", "createTime": "2025-01-01T00:00:00Z", "updateTime": "2025-06-01T00:00:00Z",
        "fields": {"population": {"integerValue": "\(population)"}, "zone": {"stringValue": "Zürich"}}}}
      """)
  }

  mutating func addMissingDocument(_ path: String) {
    documentCount += 1
    let name = "\(database)/documents/\(path)"
    elements.append(
      """
      {"documentMetadata": {"name": "\(name)", "readTime": "2026-01-01T00:00:00Z", "exists": false}}
      """)
  }

  var data: Data {
    let body = elements.map { "\($0.utf8.count)\($0)" }.joined()
    let metadata = """
      {"metadata": {"id": "\(id)", "createTime": "\(createTime)", "version": 1,
        "totalDocuments": \(announcedDocuments ?? documentCount), "totalBytes": "\(body.utf8.count)"}}
      """
    return Data("\(metadata.utf8.count)\(metadata)\(body)".utf8)
  }
}
