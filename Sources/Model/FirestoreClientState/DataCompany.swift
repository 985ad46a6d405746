// SPDX-License-Identifier: Apache-2.0

/// A process that uses a data directory.
package struct DataMember: Codable, Hashable, Sendable, CustomStringConvertible {
  /// The process number as this process sees it.
  package var process: Int32
  /// The program and command that run in the process, such as `hearth watch`.
  package var name: String

  package init(process: Int32, name: String) {
    self.process = process
    self.name = name
  }

  package var description: String { "process \(process) (\(name))" }
}

/// The processes that have the embedded data open together, and the one through which this process reaches the data.
package struct DataCompany: Codable, Hashable, Sendable {
  package enum Standing: Codable, Hashable, Sendable {
    /// This process has the data and serves the others.
    case owner
    /// Another process has the data and serves this one.
    case attached(to: DataMember)
    /// No process serves the data, for this reason.
    case unreachable(String)
  }

  package var standing: Standing
  /// The other processes that are attached, without this one and the owner; in the order in which they came.
  package var others: [DataMember]

  package init(_ standing: Standing, others: [DataMember] = []) {
    self.standing = standing
    self.others = others
  }

  /// Whether this process uses the data alone.
  package var isAlone: Bool { standing == .owner && others.isEmpty }
}
