/**
 * What nobody need be asked about of a command in the sandbox (docs/security.md): only what the sandbox itself makes harmless.
 *
 * I1 Rules are never weakened: what they deny stays denied, a need of `bash`, `edit` or `read` stays as it is, and so does
 *    every reason for an explicit answer but one. An unknown part of a line could be a program that a rule denies, or write a protected file of the workspace.
 */
import type { CommandSandbox } from '../../../ports/doors.js'
import { isWithin } from '../../../protocol/caller.js'
import { parentOf } from '../words/place.js'
import type { ShellScan } from './scan.js'
import { OPENS_NETWORK } from '../words/touch.js'

export interface Confinement {
  /** Whether the line has it. */
  readonly network: boolean
  readonly placeOf: CommandSandbox['placeOf']
}

/** Why an explicit answer is needed in the sandbox. */
export function confinedReasons({ reasons }: ShellScan, confinement: Confinement | undefined): readonly string[] {
  return confinement === undefined || confinement.network ? reasons : reasons.filter((reason) => reason !== OPENS_NETWORK)
}

/** Patterns of places outside the workspace by whether something real there, that not every command sees, could be read or written. */
export function confinedPlaces(
  { outside, writes }: ShellScan,
  confinement: Confinement | undefined,
): { readonly real: readonly string[]; readonly harmless: readonly string[] } {
  const isReal = (directory: string): boolean => {
    const place = confinement?.placeOf(directory)
    if (place === 'private') return false
    return place !== 'read-only' || writes.some((path) => isWithin(directory, path))
  }
  const real = outside.filter((pattern) => isReal(parentOf(pattern)))
  return { real, harmless: outside.filter((pattern) => !real.includes(pattern)) }
}

/** What the needs of a judged line have allowed beyond the workspace. */
export function grantsOf(scan: ShellScan, confinement: Confinement): { directories: readonly string[]; reads: readonly string[] } {
  return { directories: confinedPlaces(scan, confinement).real.map(parentOf), reads: scan.reads }
}
