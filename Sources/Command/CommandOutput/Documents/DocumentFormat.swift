// SPDX-License-Identifier: Apache-2.0

/// A format in which documents are printed.
package enum DocumentFormat: Sendable {
  /// One document as JSON, or a collection's documents as a line each.
  case text
  case json
  case table
  /// A line for each field.
  case expanded
  case delimited(Delimiter)
  case template(OutputTemplate)
}
