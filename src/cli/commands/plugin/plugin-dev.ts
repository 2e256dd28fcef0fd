/**
 * `svc plugin dev`: a package is built, approved and served again after every change, and what it says is shown beside.
 *
 * I1 Only what its author asked for by name is approved without a question, and only while this command runs.
 */
import { existsSync, type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseManifest } from '../../../actors/plugin/package/package-manifest.js'
import { SvcError } from '../../../protocol/errors.js'
import { MANIFEST_FILE } from '../../../protocol/plugin/plugin.js'
import { logFileOf } from '../../../platform/node/log-file.js'
import { nodePaths } from '../../../platform/node/paths.js'
import type { Client } from '../../../published/client/client-types.js'
import { connect } from '../../connection.js'
import { failureText } from '../../failure.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { followLog } from '../logs/logs.js'
import { writeError, writeOut } from '../../terminal/output.js'
import type { SwitchOptions } from './plugin-arguments.js'
import { packageFolder } from './install/fetch-source.js'
import { installFolder } from './install/plugin-add.js'
import { buildSources, sourcesOf } from './make/build-sources.js'
import { isFolder } from './make/plugin-init.js'
import { openPluginPlace } from './plugin-place.js'
import { approvePlugin } from './plugin-trust.js'
import { only } from './plugin-untrust.js'
import { untilTakenUp } from './plugin-taken-up.js'
import { stateWords } from './state-words.js'

/** Without a change for so long, ms, it is taken up. */
const QUIET = 250
const LOOK = 200

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
  const changes = watchFolders(folders)
  const told = followLog(log, { plugin: id, signal }, (line) => writeError(`${line}\n`, 'dim'))
  try {
    while (!signal.aborted) {
      const built = await build(developed, folders)
      await takeUp(connection.client, developed, { signal, isBuilt: built.ok }).catch((error: unknown) =>
        writeError(`svc: ${failureText(error)}\n`, 'red'),
      )
      do
        await changes.next(signal) // also for what the build itself wrote
      while (!signal.aborted && stateOf(folders) === built.state)
    }
  } finally {
    changes.close()
    forget()
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

/** Builds, and tells what was there then: whatever differs from it later has not been built. */
async function build({ root }: Developed, folders: readonly string[]): Promise<{ readonly ok: boolean; readonly state: string }> {
  const before = stateOf(folders)
  const ok = await buildSources(sourcesOf(root), root)
  const state = stateOf(folders)
  return { ok, state: ok ? state : before }
}

/** Names, sizes and times of all files. */
function stateOf(folders: readonly string[]): string {
  return folders.flatMap(filesIn).toSorted().join('\n')
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !name.includes('node_modules'))
    return names.flatMap((name) => {
      const stat = statSync(join(folder, name), { throwIfNoEntry: false })
      return stat?.isFile() === true ? [`${folder}/${name} ${stat.size} ${stat.mtimeMs}`] : []
    })
  } catch {
    return [] // it is being replaced
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
    const why = lives.diagnostics.map(({ message }) => `: ${message}`).join('')
    return writeOut(`${id} ${revision.slice(0, 19)} ${stateWords(lives)}${why}\n`)
  }
  if (!signal.aborted) writeError(`svc: ${id} has not started; svc plugin doctor ${id}\n`, 'red')
}

interface Changes {
  /** Resolves once something has changed and then nothing for a moment; or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void>
  close(): void
}

function watchFolders(folders: readonly string[]): Changes {
  let changed = 0
  let seen = 0
  const watchers: FSWatcher[] = folders.map((folder) =>
    watch(folder, { recursive: true }, (_type, name) => {
      if (name?.includes('node_modules') !== true) changed++
    }),
  )
  return {
    async next(signal) {
      const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined)
      while (changed === seen && !signal.aborted) await pause(LOOK)
      for (let before = -1; before !== changed && !signal.aborted; ) {
        before = changed
        await pause(QUIET)
      }
      seen = changed
    },
    close: () => watchers.forEach((each) => each.close()),
  }
}
