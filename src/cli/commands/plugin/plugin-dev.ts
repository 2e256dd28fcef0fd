/**
 * `svc plugin dev`: a package is built, approved and served again after every change, and what it says is shown beside.
 *
 * I1 Only what its author asked for by name is approved without a question, and only while this command runs.
 */
import { spawn } from 'node:child_process'
import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isRecord } from '../../../protocol/text/json.js'
import { logFileOf } from '../../../platform/node/log-file.js'
import { nodePaths } from '../../../platform/node/paths.js'
import type { Client } from '../../../published/client/client-types.js'
import { connect } from '../../connection.js'
import { failureText } from '../../failure.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { followLog } from '../logs/logs.js'
import { writeError, writeOut } from '../../terminal/output.js'
import type { SwitchOptions } from './plugin-arguments.js'
import { openPluginPlace } from './plugin-place.js'
import { approvePlugin } from './plugin-trust.js'
import { only } from './plugin-untrust.js'
import { untilTakenUp } from './plugin-taken-up.js'
import { stateWords } from './state-words.js'

/** Without a change for so long, ms, it is taken up. */
const QUIET = 250
const LOOK = 200

/** Runs until Ctrl-C; answers 0 then. Throws when there is no such package. */
export async function developPlugin({ id, directory }: SwitchOptions): Promise<number> {
  const { signal, forget } = watchInterrupts(() => undefined)
  const log = logFileOf(nodePaths(process.env).state) // before a server in this process takes it out of the environment
  const place = await openPluginPlace(directory)
  const { root } = only(place, id)
  const sources = join(dirname(dirname(root)), 'plugin-sources', id)
  const folders = [root, ...(existsSync(sources) ? [sources] : [])]
  const connection = await connect(undefined)
  const changes = watchFolders(folders)
  const told = followLog(log, { plugin: id, signal }, (line) => writeError(`${line}\n`, 'dim'))
  try {
    while (!signal.aborted) {
      await takeUp(connection.client, { id, workspace: place.workspace, sources, signal }).catch((error: unknown) =>
        writeError(`svc: ${failureText(error)}\n`, 'red'),
      )
      changes.forget()
      await changes.next(signal)
    }
  } finally {
    changes.close()
    forget()
    await told
    await connection.close()
  }
  return 0
}

async function takeUp(
  client: Client,
  { id, workspace, sources, signal }: { id: string; workspace: string; sources: string; signal: AbortSignal },
): Promise<void> {
  if (hasBuild(sources) && !(await build(sources))) return writeError('svc: the build failed; what served before still does\n', 'red')
  const revision = await approvePlugin(id, workspace)
  const lives = await untilTakenUp(client, { id, workspace, revision, signal }, (now) => writeError(`${id} ${now}\n`, 'dim'))
  if (lives !== undefined) {
    const why = lives.diagnostics.map(({ message }) => `: ${message}`).join('')
    return writeOut(`${id} ${revision.slice(0, 19)} ${stateWords(lives)}${why}\n`)
  }
  if (!signal.aborted) writeError(`svc: ${id} has not started; svc plugin doctor ${id}\n`, 'red')
}

/** `build` among the scripts of the sources. */
function hasBuild(sources: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8'))
    return isRecord(manifest) && isRecord(manifest['scripts']) && 'build' in manifest['scripts']
  } catch {
    return false
  }
}

function build(cwd: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', 'build'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => writeError(text))
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}

interface Changes {
  /** Resolves once something has changed and then nothing for a moment; or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void>
  /** What changed until now was our own doing. */
  forget(): void
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
    forget() {
      seen = changed
    },
    close: () => watchers.forEach((each) => each.close()),
  }
}
