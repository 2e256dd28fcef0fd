/**
 * The terminals of this start of the server (subsystems g; threat-model §7).
 *
 * I1 At most `count` at a time, those that are being ended included.
 * I2 A terminal is listed exactly while its row exists: record and event are one commit. They end with the server; rows of
 *    one that had no time to say so are removed, and told, by the next start.
 * I3 A caller sees the terminals of its tenant, in directories it may use, and no others.
 */
import type { NativeHost } from '../../ports/plugin.js'
import { type Caller, mayUseDirectory, owns } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { Pty, type PtyCreateRequest, type PtyUpdateRequest } from '../../protocol/terminal/pty.js'
import { configuredShell, defaultCommand } from './shells.js'
import { createTerminal, type Terminal } from './terminal.js'

const KIND = 'terminal'
const TITLE = 'shell'

export interface Terminals {
  /** Oldest first. */
  list(caller: Caller): Pty[]
  create(caller: Caller, directory: string, request: PtyCreateRequest): Promise<Pty>
  /** Throws `resource.not_found`. */
  find(caller: Caller, id: string): Terminal
  /** As `find`, before anybody knows who asks. */
  mustExist(id: string): void
  update(caller: Caller, id: string, request: PtyUpdateRequest): Promise<Pty>
  /** Resolves when nothing of it runs. */
  remove(caller: Caller, id: string): Promise<void>
  /** Ends all of them. */
  stop(): Promise<void>
}

interface Listed {
  readonly terminal: Terminal
  readonly tenantId: string
  /** Of who created it, where that is for one. */
  readonly workspaceId: string | undefined
}

/** The terminals there are. */
interface Shelf {
  readonly host: Pick<NativeHost, 'effects' | 'rows' | 'actors' | 'config'>
  readonly listed: Map<string, Listed>
  /** Being created, and being ended. */
  starting: number
  ending: number
}

export function createTerminals(host: Shelf['host']): Terminals {
  const shelf: Shelf = { host, listed: new Map(), starting: 0, ending: 0 }
  const { listed } = shelf
  const { log } = host.effects
  forgetEarlier(shelf)
  return {
    list: (caller) =>
      [...listed.values()]
        .filter((each) => maySee(caller, each))
        .map(({ terminal }) => terminal.info)
        .toSorted((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1)),
    create: (caller, directory, request) => create(shelf, caller, directory, request),
    find: (caller, id) => findListed(shelf, caller, id).terminal,
    mustExist(id) {
      if (!listed.has(id)) throw notFound(id)
    },
    update: (caller, id, request) => update(shelf, caller, id, request),
    remove: (caller, id) => end(shelf, id, findListed(shelf, caller, id)),
    async stop() {
      await Promise.all(
        [...listed].map(([id, each]) =>
          end(shelf, id, each).catch((error: unknown) =>
            log.error('the end of a terminal was not recorded', { ptyId: id, cause: String(error) }),
          ),
        ),
      )
    },
  }
}

/** I2 */
function forgetEarlier({ host: { rows } }: Shelf): void {
  const earlier = rows.list(KIND)
  if (earlier.length === 0) return
  rows.commit('process', (tx) => {
    for (const { id, data } of earlier) {
      tx.delete(KIND, id)
      const info = Pty.safeParse(data)
      if (info.success) tx.emit('pty.deleted', { id, ptyID: id, info: info.data })
    }
  })
}

async function create(shelf: Shelf, caller: Caller, directory: string, request: PtyCreateRequest): Promise<Pty> {
  const { listed, host } = shelf
  const { effects, actors } = host
  if (listed.size + shelf.starting + shelf.ending >= LIMITS.terminals.count) {
    throw new SvcError('quota.exceeded', `There may be ${LIMITS.terminals.count} terminals at a time; remove one first.`)
  }
  shelf.starting++
  try {
    const cwd = (await directoryOf(shelf, caller, directory, request.cwd)) ?? directory
    const command = await commandOf(shelf, request, directory, cwd)
    const title = request.title?.trim() || TITLE
    const info: Pty = { id: effects.ids.next('pty'), command, cwd, title, time: effects.clock.now() }
    put(shelf, info, 'pty.created')
    const onExit = (id: string, exitStatus: number | null) => noteExit(shelf, id, exitStatus)
    listed.set(info.id, {
      terminal: createTerminal({ effects, actors, onExit }, info),
      tenantId: caller.tenantId,
      workspaceId: caller.workspaceId,
    })
    return info
  } finally {
    shelf.starting--
  }
}

async function update(shelf: Shelf, caller: Caller, id: string, { title, cwd, size }: PtyUpdateRequest): Promise<Pty> {
  const directory = await directoryOf(shelf, caller, findListed(shelf, caller, id).terminal.info.cwd, cwd)
  const { terminal } = findListed(shelf, caller, id)
  const { info } = terminal
  const changed: Pty = { ...info, title: title?.trim() || info.title, cwd: directory ?? info.cwd }
  if (changed.title !== info.title || changed.cwd !== info.cwd) {
    put(shelf, changed, 'pty.updated')
    terminal.info = changed
  }
  if (size !== undefined) terminal.resize(size)
  return changed
}

async function end(shelf: Shelf, id: string, { terminal }: Listed): Promise<void> {
  shelf.listed.delete(id)
  shelf.ending++
  try {
    await terminal.remove()
  } finally {
    shelf.ending--
  }
  shelf.host.rows.commit('process', (tx) => {
    tx.delete(KIND, id)
    tx.emit('pty.deleted', { id, ptyID: id, info: terminal.info })
  })
}

function findListed({ listed }: Shelf, caller: Caller, id: string): Listed {
  const known = listed.get(id)
  if (known === undefined || !maySee(caller, known)) throw notFound(id)
  return known
}

function put({ host: { rows } }: Shelf, info: Pty, type: 'pty.created' | 'pty.updated'): void {
  rows.commit('process', (tx) => {
    tx.put(KIND, { id: info.id, group: '', sort: info.time, data: info })
    tx.emit(type, { id: info.id, ptyID: info.id, info })
  })
}

function noteExit({ host: { rows, effects } }: Shelf, id: string, exitStatus: number | null): void {
  try {
    rows.commit('process', (tx) => tx.emit('pty.exited', { id, ptyID: id, exitStatus }))
  } catch (error) {
    effects.log.error('the end of a program was not recorded', { ptyId: id, cause: String(error) })
  }
}

/** Canonical; a relative path belongs to `base`. Undefined for a blank one. */
async function directoryOf({ host }: Shelf, caller: Caller, base: string, path: string | undefined): Promise<string | undefined> {
  const { files } = host.effects
  const wanted = path?.trim() ?? ''
  if (wanted === '') return undefined
  const full = wanted.startsWith('/') ? wanted : `${base}/${wanted}`
  const canonical = await files.realPath(full).catch(() => undefined)
  const stat = canonical === undefined ? undefined : await files.stat(canonical)
  if (canonical === undefined || stat?.kind !== 'directory') {
    throw new SvcError('request.invalid_directory', `The working directory "${wanted}" does not exist.`, { cwd: wanted })
  }
  if (!mayUseDirectory(caller, canonical)) throw new SvcError('auth.directory_forbidden')
  return canonical
}

async function commandOf({ host }: Shelf, { command = [] }: PtyCreateRequest, directory: string, cwd: string): Promise<string[]> {
  const parts = command.map((part) => part.trim()).filter((part) => part !== '')
  const [program, ...args] = parts
  if (program === undefined) return defaultCommand(host.effects, configuredShell(await host.config(directory)))
  // A path with a slash means the directory the program starts in; the search path is for names.
  return [program.includes('/') && !program.startsWith('/') ? `${cwd}/${program}` : program, ...args]
}

function maySee(caller: Caller, { terminal, tenantId, workspaceId }: Listed): boolean {
  return owns(caller, { tenantId, workspaceId, directory: terminal.info.cwd })
}

function notFound(id: string): SvcError {
  return new SvcError('resource.not_found', `There is no terminal "${id}".`)
}
