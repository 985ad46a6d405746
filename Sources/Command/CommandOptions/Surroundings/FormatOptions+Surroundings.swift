// SPDX-License-Identifier: Apache-2.0
package import CommandOutput

extension FormatOptions {
  /// - Parameter isTable: whether a table is the default.
  package func format(orTable isTable: Bool) throws(CommandFailure) -> DocumentFormat {
    if let template { return .template(try Self.parse(template)) }
    if json { return .json }
    if csv { return .delimited(.comma) }
    if tsv { return .delimited(.tab) }
    if expanded || (!isChosen && Surroundings.current.isExpanded) { return .expanded }
    return table || isTable ? .table : .text
  }
}
