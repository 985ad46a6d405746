// SPDX-License-Identifier: Apache-2.0

/// The scenario files in this folder. They are embedded in the binary, so that the program needs no resource files.
package enum ScenarioFiles {
  package static let sources: [[UInt8]] = [
    PackageResources.listening_scenarios, PackageResources.writing_scenarios, PackageResources.offline_scenarios,
    PackageResources.together_scenarios, PackageResources.faults_scenarios, PackageResources.rules_scenarios,
    PackageResources.caches_scenarios,
  ]
}
