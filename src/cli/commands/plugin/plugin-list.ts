/** `svc plugin list`: packages of the installation and of a workspace, and what entries of the configuration start. */
import { failureText } from '../../failure.js'
import type { PackageState } from '../../../protocol/plugin/plugin.js'
import { readInstalled } from './install/installed.js'
import { sourceText } from './install/source-spec.js'
import type { ListOptions } from './plugin-arguments.js'
import { applicantOf, approvalOf, openPluginPlace, type PluginPlace, readPackage } from './plugin-place.js'
import { entryRows } from './plugin-entries.js'
import { troubleOf } from './state-words.js'
import { askServer } from './plugin-server.js'
import { columns, shortRevision } from './plugin-words.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'

interface Row {
  readonly id: string
  readonly source: 'user' | 'workspace' | 'configuration'
  readonly location: string
  /** What it was added from. */
  readonly origin?: string
  readonly scope?: string
  readonly revision?: string
  readonly approved: boolean
  readonly state: PackageState
  readonly problem?: string
}

/** Prints one line for each package; answers 0. */
export async function listPlugins(options: ListOptions): Promise<number> {
  const place = await openPluginPlace(options.directory)
  const server = await askServer(options.server, place.workspace)
  const running = new Map(server.type === 'answered' ? server.packages.map((each) => [`${each.source} ${each.packageId}`, each]) : [])
  const rows = await Promise.all(place.packages.map((found) => rowOf(place, found)))
  const entries = await entryRows(place, server.type === 'answered' ? server.plugins : undefined)
  const packages = rows.map((row): Row => {
    const lives = running.get(`${row.source} ${row.id}`)
    const state = lives?.state ?? row.state
    const problem = troubleOf({ packageId: row.id, state, diagnostics: lives?.diagnostics ?? [] })
    return { ...row, state, ...(row.problem === undefined && problem !== undefined && { problem }) }
  })
  const merged = [
    ...packages,
    ...entries.map((row): Row => ({ ...row, origin: row.location, source: 'configuration', approved: row.state !== 'failed' })),
  ]
  if (server.type === 'absent' && merged.length > 0)
    writeError('svc: no server runs, so states are those on disk; svc plugin doctor starts each once\n', 'dim')
  if (server.type === 'silent') writeError(`svc: states are those on disk: ${server.reason}\n`)
  if (options.json) writeOut(`${jsonText(merged, 2)}\n`)
  else if (merged.length === 0) writeOut(`no packages; make one with: svc plugin init dev.example.hello\n`)
  else writeOut(render(merged))
  return 0
}

async function rowOf(place: PluginPlace, found: PluginPlace['packages'][number]): Promise<Row> {
  const installed = found.source === 'user' ? originsOf(place)[found.id] : undefined
  const at = {
    id: found.id,
    source: found.source,
    location: found.root,
    ...(installed !== undefined && { origin: sourceText(installed.source) }),
  }
  try {
    const read = await readPackage(place, found)
    const approved = approvalOf(place, read).ok
    const { workspaceId = '' } = applicantOf(place, read).place
    const isChanged = !approved && place.entries.package(found.id).trust.some((trust) => trust.workspaceId === workspaceId)
    const waits = isChanged ? 'update-available' : 'permission-required'
    const state = place.entries.isDisabled(found.id) ? 'disabled' : approved ? 'trusted' : waits
    return { ...at, scope: read.target.scope, revision: read.revision, approved, state }
  } catch (error) {
    return { ...at, approved: false, state: 'failed', problem: failureText(error) }
  }
}

/** Nothing where they cannot be read: `svc plugin update` says why. */
function originsOf({ effects }: PluginPlace): ReturnType<typeof readInstalled> {
  try {
    return readInstalled(effects.paths.config)
  } catch {
    return {}
  }
}

function render(rows: readonly Row[]): string {
  const cells = rows.map(({ id, source, origin, scope = '-', revision = '-', approved, state, problem }) =>
    [
      id,
      origin === undefined ? source : `${source}, ${origin}`,
      scope,
      shortRevision(revision),
      source === 'configuration' ? 'by its entry' : approved ? 'approved' : 'not approved',
      state,
      problem ?? '',
    ].map(printable),
  )
  return columns([['ID', 'FROM', 'SCOPE', 'REVISION', 'APPROVAL', 'STATE', 'WHY'], ...cells])
}
