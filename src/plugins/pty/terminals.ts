/**
 * The terminals of this start of the server (subsystems g; threat-model §7).
 *
 * I1 At most `count` at a time, those that are being ended included.
 * I2 A terminal is listed exactly while its row exists: record and event are one commit. They end with the server; rows of
 *    one that had no time to say so are removed, and told, by the next start.
 * I3 A caller sees the terminals of its tenant, in directories it may use, and no others.
 */
import type { NativeHost } from '../../ports/plugin.js'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
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
}

export function createTerminals({ effects, rows, actors, config }: Pick<NativeHost, 'effects' | 'rows' | 'actors' | 'config'>): Terminals {
  const { clock, ids, files, log } = effects
  const listed = new Map<string, Listed>()
  /** Being created, and being ended. */
  let starting = 0
  let ending = 0
  forgetEarlier()

  /** I2 */
  function forgetEarlier(): void {
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

  function onExit(id: string, exitStatus: number | null): void {
    try {
      rows.commit('process', (tx) => tx.emit('pty.exited', { id, ptyID: id, exitStatus }))
    } catch (error) {
      log.error('the end of a program was not recorded', { ptyId: id, cause: String(error) })
    }
  }

  function put(info: Pty, type: 'pty.created' | 'pty.updated'): void {
    rows.commit('process', (tx) => {
      tx.put(KIND, { id: info.id, group: '', sort: info.time, data: info })
      tx.emit(type, { id: info.id, ptyID: info.id, info })
    })
  }

  function findListed(caller: Caller, id: string): Listed {
    const known = listed.get(id)
    if (known === undefined || !maySee(caller, known)) throw notFound(id)
    return known
  }

  async function end(id: string, { terminal }: Listed): Promise<void> {
    listed.delete(id)
    ending++
    try {
      await terminal.remove()
    } finally {
      ending--
    }
    rows.commit('process', (tx) => {
      tx.delete(KIND, id)
      tx.emit('pty.deleted', { id, ptyID: id, info: terminal.info })
    })
  }

  /** Canonical; a relative path belongs to `base`. Undefined for a blank one. */
  async function directoryOf(caller: Caller, base: string, path: string | undefined): Promise<string | undefined> {
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

  async function commandOf({ command = [] }: PtyCreateRequest, directory: string, cwd: string): Promise<string[]> {
    const parts = command.map((part) => part.trim()).filter((part) => part !== '')
    const [program, ...args] = parts
    if (program === undefined) return defaultCommand(effects, configuredShell(await config(directory)))
    // A path with a slash means the directory the program starts in; the search path is for names.
    return [program.includes('/') && !program.startsWith('/') ? `${cwd}/${program}` : program, ...args]
  }

  return {
    list: (caller) =>
      [...listed.values()]
        .filter((each) => maySee(caller, each))
        .map(({ terminal }) => terminal.info)
        .toSorted((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1)),
    async create(caller, directory, request) {
      if (listed.size + starting + ending >= LIMITS.terminals.count) {
        throw new SvcError('quota.exceeded', `There may be ${LIMITS.terminals.count} terminals at a time; remove one first.`)
      }
      starting++
      try {
        const cwd = (await directoryOf(caller, directory, request.cwd)) ?? directory
        const command = await commandOf(request, directory, cwd)
        const info: Pty = { id: ids.next('pty'), command, cwd, title: request.title?.trim() || TITLE, time: clock.now() }
        put(info, 'pty.created')
        listed.set(info.id, { terminal: createTerminal({ effects, actors, onExit }, info), tenantId: caller.tenantId })
        return info
      } finally {
        starting--
      }
    },
    find: (caller, id) => findListed(caller, id).terminal,
    mustExist(id) {
      if (!listed.has(id)) throw notFound(id)
    },
    async update(caller, id, { title, cwd, size }) {
      const directory = await directoryOf(caller, findListed(caller, id).terminal.info.cwd, cwd)
      const { terminal } = findListed(caller, id)
      const { info } = terminal
      const changed: Pty = { ...info, title: title?.trim() || info.title, cwd: directory ?? info.cwd }
      if (changed.title !== info.title || changed.cwd !== info.cwd) {
        put(changed, 'pty.updated')
        terminal.info = changed
      }
      if (size !== undefined) terminal.resize(size)
      return changed
    },
    remove: (caller, id) => end(id, findListed(caller, id)),
    async stop() {
      await Promise.all(
        [...listed].map(([id, each]) =>
          end(id, each).catch((error: unknown) => log.error('the end of a terminal was not recorded', { ptyId: id, cause: String(error) })),
        ),
      )
    },
  }
}

function maySee(caller: Caller, { terminal, tenantId }: Listed): boolean {
  return caller.tenantId === tenantId && mayUseDirectory(caller, terminal.info.cwd)
}

function notFound(id: string): SvcError {
  return new SvcError('resource.not_found', `There is no terminal "${id}".`)
}
