// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The place that a command reads documents from.
package enum ReadSource: String, ExpressibleByArgument, CaseIterable {
  case server, cache
}
