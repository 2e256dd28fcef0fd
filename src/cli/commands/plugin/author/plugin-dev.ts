/**
 * `svc plugin dev`: a package is built, approved and served again after every change, and what it says is shown beside.
 *
 * I1 Only what its author asked for by name is approved without a question, and only while this command runs.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseManifest } from '../../../../actors/plugin/package/package-manifest.js'
import { SvcError } from '../../../../protocol/errors.js'
import { MANIFEST_FILE } from '../../../../protocol/plugin/plugin.js'
import { logFileOf } from '../../../../platform/node/log-file.js'
import { nodePaths } from '../../../../platform/node/paths.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import type { Client } from '../../../../published/client/client-types.js'
import { connect } from '../../../connection.js'
import { failureText } from '../../../failure.js'
import { watchInterrupts } from '../../../terminal/interruption.js'
import { followLog } from '../../logs/logs.js'
import { writeError, writeOut } from '../../../terminal/output.js'
import type { SwitchOptions } from '../plugin-arguments.js'
import { packageFolder } from '../install/fetch-source.js'
import { installFolder } from '../install/plugin-add.js'
import { buildSources, sourcesOf } from '../make/build-sources.js'
import { isFolder } from '../make/plugin-init.js'
import { type Need, needsOf } from '../plugin-needs.js'
import { openPluginPlace, readPackage } from '../plugin-place.js'
import { approvePlugin } from '../plugin-trust.js'
import { only } from '../plugin-untrust.js'
import { untilTakenUp } from '../plugin-taken-up.js'
import { settledState, stateOf } from './source-state.js'
import { stateWords } from '../state-words.js'

interface Developed {
  readonly id: string
  /** The package, where its author has it. */
  readonly root: string
  readonly workspace: string
  /** It stands in a folder where svc looks for none, and is installed at every change. */
  readonly isElsewhere: boolean
}

/** Runs until Ctrl-C; answers 0 then. Throws when there is no such package. */
export async function developPlugin({ id: named, directory }: SwitchOptions): Promise<number> {
  const { signal, forget } = watchInterrupts(() => undefined)
  const log = logFileOf(nodePaths(process.env).state) // before a server in this process takes it out of the environment
  const developed = await find(named, directory)
  const { id, root } = developed
  const sources = sourcesOf(root)
  const folders = root.startsWith(`${sources}/`) ? [sources] : [root, sources].filter((each) => existsSync(each))
  const connection = await connect(undefined)
  const over = new AbortController()
  const told = followLog(log, { plugin: id, signal: AbortSignal.any([signal, over.signal]) }, (line) => writeError(`${line}\n`, 'dim'))
  const needs = createNeedsTold(developed)
  if (developed.isElsewhere) {
    const there = join(nodePaths(process.env).config, 'plugins', id)
    writeError(`${printable(`the source is ${root}; what runs, and what messages name, is its copy in ${there}`)}\n`, 'dim')
  }
  let hasServed = false
  try {
    while (!signal.aborted) {
      const built = await build(developed, folders)
      try {
        await takeUp(connection.client, developed, { signal, isBuilt: built.ok })
        hasServed ||= built.ok
        await needs.tell()
      } catch (error) {
        if (!hasServed && isConflict(error)) throw error // no change of the source would help
        writeError(`svc: ${failureText(error)}\nsvc: it is looked at again when something changes\n`, 'red')
      }
      await settledState(folders, { unlike: built.state, signal })
    }
  } finally {
    forget()
    over.abort()
    await told
    await connection.close()
  }
  if (developed.isElsewhere) writeOut(`${id} stays installed; svc plugin remove ${id} takes it away\n`)
  return 0
}

async function find(named: string, directory: string | undefined): Promise<Developed> {
  const place = await openPluginPlace(directory)
  const { packages, workspace } = place
  if (!isFolder(named)) return { id: named, root: only(place, named).root, workspace, isElsewhere: false }
  const root = packageFolder(named)
  const here = packages.find((each) => each.root === root)
  const { id } = parseManifest(readFileSync(join(root, MANIFEST_FILE)))
  const other = packages.find((each) => each.id === id && each.source === 'workspace')
  if (here === undefined && other !== undefined)
    throw new SvcError('resource.conflict', `${id} is in ${other.root} already; that one would serve beside this`)
  return { id, root, workspace, isElsewhere: here === undefined }
}

function isConflict(error: unknown): boolean {
  return error instanceof SvcError && error.code === 'resource.conflict'
}

/** Builds, and tells what was there then: whatever differs from it later has not been built. */
async function build({ root }: Developed, folders: readonly string[]): Promise<{ readonly ok: boolean; readonly state: string }> {
  const before = stateOf(folders)
  const ok = await buildSources(sourcesOf(root), root)
  const state = stateOf(folders)
  return { ok, state: ok ? state : before }
}

/** Says what it still needs of its user, and the same once. */
function createNeedsTold({ id, workspace }: Developed): { tell(): Promise<void> } {
  let before: readonly Need[] = []
  return {
    async tell() {
      const place = await openPluginPlace(workspace)
      const needs = await needsOf(place, await readPackage(place, only(place, id)))
      for (const { what, remedy } of needs)
        if (!before.some((each) => each.what === what)) writeError(`svc: it still needs ${printable(`${what} -> ${remedy}`)}\n`)
      before = needs
    },
  }
}

async function takeUp(
  client: Client,
  { id, root, workspace, isElsewhere }: Developed,
  { signal, isBuilt }: { readonly signal: AbortSignal; readonly isBuilt: boolean },
): Promise<void> {
  if (!isBuilt) return writeError('svc: the build failed; what served before still does\n', 'red')
  if (isElsewhere) await installFolder(root)
  const revision = await approvePlugin(id, workspace)
  const lives = await untilTakenUp(client, { id, workspace, revision, signal }, (now) => writeError(`${id} ${now}\n`, 'dim'))
  if (lives !== undefined) {
    // What calls were refused is in the log beside this, and may be of before the change.
    const why = lives.diagnostics.flatMap(({ code, message }) => (code === 'refused' ? [] : [`: ${message}`])).join('')
    return writeOut(`${id} ${revision.slice(0, 19)} ${stateWords(lives)}${why}\n`)
  }
  if (!signal.aborted) writeError(`svc: ${id} has not started; svc plugin doctor ${id}\n`, 'red')
}
