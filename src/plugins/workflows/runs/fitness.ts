/**
 * Whether a valid file may run, and whether somebody stands for its content (choice 16; threat-model W2, W3, W5).
 *
 * I1 Content that a checkout brought is accepted by nobody until a person or the API does it; what cannot be told counts so.
 * I2 In every mode what a file allows over the installation counts only when somebody accepted the content: saving is no such act.
 * I3 Where commands run in the sandbox a program in it may have saved the file, so being saved says nothing.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowDiagnostic } from '../../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../../ports/plugin.js'
import type { Found } from '../files/catalog.js'
import type { Ledger } from './ledger.js'
import { runDirectory } from './prepare.js'
import { compilePermissions } from '../files/permission-fields.js'
import type { Acceptance } from '../settings.js'
import { messageOf } from '../../../protocol/message-of.js'

export type Fitness = Standing & {
  /** Why it must not run; none = it may. */
  readonly obstacles: readonly Obstacle[]
  /** It runs, but not all it says counts. */
  readonly notes: readonly Obstacle[]
}

/** A file that may be executed now. */
export interface Executable {
  readonly found: Found
  readonly isAccepted: boolean
}

interface Obstacle {
  readonly code: 'acceptance-required' | 'rules-not-accepted' | 'directory-missing'
  readonly message: string
}

interface Standing {
  /** The installation or an act of acceptance stands for the content. */
  readonly isAccepted: boolean
  /** Somebody saved it, so it runs; nobody has accepted it. */
  readonly isSaved: boolean
  /** The answer may be another one soon. */
  readonly isPassing: boolean
  /** Why nobody stands for it. */
  readonly reason?: string
}

export interface FitnessDeps {
  readonly host: Pick<NativeHost, 'effects' | 'checkouts' | 'sandbox'>
  readonly ledger: Pick<Ledger, 'known'>
  acceptance(): Acceptance
  activationId(root: string, workflowId: string): string
}

/** Answers for each file, in order. Never rejects. */
export type FitnessOf = (found: readonly Found[]) => Promise<readonly Fitness[]>

const ACCEPTED: Standing = { isAccepted: true, isSaved: false, isPassing: false }
const SAVED: Standing = { isAccepted: false, isSaved: true, isPassing: false, reason: 'it was saved, and not accepted' }
const SANDBOXED = 'permission.sandbox is on, and a command in the sandbox may have written it'

export function createFitness({ host, ledger, acceptance, activationId }: FitnessDeps): FitnessOf {
  const { effects } = host
  const { files, sha256, paths } = effects

  const knownOf = ({ id, sourceHash, root }: Found) =>
    root.owner === undefined ? 'accepted' : ledger.known(activationId(root.owner, id), sourceHash)

  /** Directories whose commands run in the sandbox, or may do so. */
  async function sandboxed(all: readonly Found[]): Promise<ReadonlySet<string | undefined>> {
    const owners = [...new Set(all.flatMap(({ root }) => root.owner ?? []))]
    const isOn = await Promise.all(owners.map(async (owner) => host.sandbox.isOn(owner).catch(() => true)))
    return new Set(owners.filter((_, index) => isOn[index]))
  }

  async function standings(all: readonly Found[]): Promise<ReadonlyMap<Found, Standing>> {
    const result = new Map<Found, Standing>()
    const asked: { readonly found: Found; readonly bytes: Uint8Array }[] = []
    const confined = await sandboxed(all)
    for (const found of all) {
      const known = knownOf(found)
      if (known === 'accepted') result.set(found, ACCEPTED)
      else if (acceptance() === 'required') result.set(found, refused('workflows.acceptance is "required"', false))
      else if (confined.has(found.root.owner))
        result.set(found, refused(SANDBOXED, false)) // I3
      else if (known === 'saved') result.set(found, SAVED)
      else {
        const bytes = await files.read(found.sourcePath, LIMITS.workflows.fileBytes, { canonical: true }).catch(() => undefined)
        if (bytes !== undefined && sha256(bytes) === found.sourceHash) asked.push({ found, bytes })
        else result.set(found, refused('it is being changed', true))
      }
    }
    const origins = await host.checkouts.origins(asked.map(({ found, bytes }) => ({ path: found.sourcePath, bytes })))
    for (const [index, { found }] of asked.entries()) {
      const origin = origins[index]
      if (origin === undefined || origin.from === 'checkout')
        result.set(found, refused(origin?.reason ?? '', origin?.isCertain === false)) // I1
      else result.set(found, SAVED)
    }
    return result
  }

  function acceptanceOf({ id, definition }: Found, { isAccepted, isSaved, reason }: Standing): Pick<Fitness, 'obstacles' | 'notes'> {
    if (isAccepted) return { obstacles: [], notes: [] }
    const how = `accept it with "svc workflow accept ${id}" (${reason})`
    if (acceptance() !== 'files' && !isSaved)
      return { obstacles: [{ code: 'acceptance-required', message: `is not used until its content is accepted: ${how}` }], notes: [] }
    const allows = compilePermissions(definition.permissions).some(({ action }) => action === 'allow')
    const message = `is allowed nothing more until its content is accepted: ${how}`
    return { obstacles: [], notes: allows ? [{ code: 'rules-not-accepted', message }] : [] } // I2
  }

  async function directoryObstacles({ definition, root }: Found): Promise<readonly Obstacle[]> {
    if (definition.directory === undefined) return []
    return runDirectory(host, definition, baseOf({ root }, paths.home)).then(
      () => [],
      (error: unknown) => [{ code: 'directory-missing' as const, message: messageOf(error) }],
    )
  }

  return async (all) => {
    const known = await standings(all)
    return Promise.all(
      all.map(async (found): Promise<Fitness> => {
        const standing = known.get(found) ?? refused('', true)
        const { obstacles, notes } = acceptanceOf(found, standing)
        const missing = await directoryObstacles(found)
        return {
          ...standing,
          obstacles: [...obstacles, ...missing],
          notes,
          isPassing: standing.isPassing || missing.length > 0,
        }
      }),
    )
  }
}

export function diagnosticsOf({ sourcePath }: Found, { obstacles, notes }: Pick<Fitness, 'obstacles' | 'notes'>): WorkflowDiagnostic[] {
  return [...obstacles, ...notes].map((each) => ({ sourcePath, ...each }))
}

/** Where a workflow runs that names no directory: its workspace, or the home folder for one of the installation. */
export function baseOf({ root }: Pick<Found, 'root'>, home: string): string {
  return root.owner ?? home
}

function refused(reason: string, isPassing: boolean): Standing {
  return { isAccepted: false, isSaved: false, isPassing, reason }
}
