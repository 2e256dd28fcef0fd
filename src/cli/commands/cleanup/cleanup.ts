/** `svc cleanup`: what is kept here and how big it is; with a yes, what can go goes. */
import { rmSync } from 'node:fs'
import { nodePaths } from '../../../platform/node/paths.js'
import type { Paths } from '../../../ports/effects.js'
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import { compactStore, freeBytes } from '../../../store/opening/compact.js'
import { connect } from '../../connection.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import { readPresence } from '../../../server/presence.js'
import type { CleanupOptions } from './cleanup-page.js'
import { type Kept, keptParts, olderLog } from './kept.js'
import { sizeText } from './size-text.js'
import { deleteUnused, partedForks, unusedConversations } from './unused-conversations.js'

const DAY = 24 * 60 * 60 * 1000

/** Ids. */
interface Unused {
  /** They go. */
  readonly conversations: readonly string[]
  /** They stay, and are conversations of their own from then on. */
  readonly forks: readonly string[]
}

/** Prints what is kept; answers 0, or 1 when a server uses what should go. */
export async function cleanup({ unusedFor, yes, json }: CleanupOptions): Promise<number> {
  const paths = nodePaths(process.env) // before a server in this process takes them out of the environment
  const unused = unusedFor === undefined ? undefined : await withClient((client) => unusedSince(client, unusedFor, yes))
  const before = keptParts(paths, freeBytes)
  const problem = yes ? removeRest(paths) : undefined
  const parts = yes ? keptParts(paths, freeBytes) : before
  const freed = yes ? sum(before, 'bytes') - sum(parts, 'bytes') : undefined
  if (json) writeOut(`${jsonText({ parts, conversations: [], forks: [], ...unused, ...(freed !== undefined && { freed }) }, 2)}\n`)
  else writeOut(text(parts, unused, yes) + (freed === undefined ? '' : `given back: ${sizeText(freed)}\n`))
  if (problem !== undefined) writeError(`svc: ${problem}\n`)
  return problem === undefined ? 0 : 1
}

async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await connect(undefined)
  try {
    return await use(connection.client)
  } finally {
    await connection.close()
  }
}

/** Without `deletes` it is only looked at. */
async function unusedSince(client: Client, days: number, deletes: boolean): Promise<Unused> {
  const before = Date.now() - days * DAY
  const unused = await unusedConversations(client, before)
  const gone = deletes ? await deleteUnused(client, unused, before) : unused
  return { conversations: gone.map(({ session }) => session.id), forks: partedForks(gone).map(({ id }) => id) }
}

/** What needs a state directory that nobody uses; answers why it could not be done. */
function removeRest({ state, cache }: Paths): string | undefined {
  try {
    compactStore(state, Date.now(), () => {
      rmSync(cache, { recursive: true, force: true })
      rmSync(olderLog(state), { force: true })
    })
    return undefined
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'resource.conflict') throw error
    const where = readPresence(state)
    return `a server${where === undefined ? '' : ` (process ${where.pid})`} uses ${state}: stop it, and the cache, the older log and free room go, too`
  }
}

function text(parts: readonly Kept[], unused: Unused | undefined, isDone: boolean): string {
  const rows = parts
    .filter(({ bytes }) => bytes > 0)
    .map(({ what, files, bytes, goes, stays, path }) => [
      what,
      String(files),
      sizeText(bytes),
      goes === 0 ? '-' : sizeText(goes),
      stays,
      path,
    ])
  const all = ['all', '', sizeText(sum(parts, 'bytes')), sizeText(sum(parts, 'goes')), '', '']
  const next = isDone ? '' : 'nothing was changed; svc cleanup --yes does it\n'
  return `${columns([['WHAT', 'FILES', 'SIZE', isDone ? 'LEFT TO GO' : 'WOULD GO', 'THE REST GOES', 'WHERE'], ...rows, all])}${unused === undefined ? '' : unusedText(unused, isDone)}${next}`
}

function unusedText({ conversations, forks }: Unused, isDone: boolean): string {
  if (conversations.length === 0) return 'every conversation has been used since, or is in use\n'
  const gone = `${counted(conversations.length, 'conversation')} ${isDone ? 'deleted' : 'would be deleted'}\n`
  if (forks.length === 0) return gone
  return `${gone}${counted(forks.length, 'fork')} of them ${forks.length === 1 ? 'is' : 'are'} in use and ${isDone ? 'stayed' : 'would stay'}\n`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function sum(parts: readonly Kept[], key: 'bytes' | 'goes'): number {
  return parts.reduce((total, part) => total + part[key], 0)
}
