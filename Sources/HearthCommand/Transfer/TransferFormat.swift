// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How a file of documents is laid out.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
  /// One JSON value for the whole file: an array of documents, or an object of documents by name.
  case json
  /// One JSON object per line.
  case jsonl

  /// By the end of a file's name; lines where that says nothing.
  init(fileName: String) { self = fileName.lowercased().hasSuffix(".json") ? .json : .jsonl }
}
