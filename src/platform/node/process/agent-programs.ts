/**
 * Which processes an agent has started: whoever carries a mark of this server, or descends from one that does, or is in its session.
 * Terminals are for people, and their marks say so. A hint and no boundary: a program may clear its environment and outlive its
 * parents (`program-families.ts`).
 *
 * I1 Bounded in what is read of the system. What is not found counts as nobody's; where there is more than is read, whoever asks counts as an
 *    agent, since otherwise a program would only have to make as much.
 * I2 Who is at the other end of a connection is looked for a process at a time, and others have their turns between them. All who ask while
 *    somebody is looked for are answered by one further look.
 * I3 Who hands a connection on while he is looked for is found where it has gone: processes that have come since are looked at, too, in a few
 *    rounds, each far shorter than the first.
 */
import type { LocalPeer } from '../../../ports/process-facts.js'
import { createPause, createSlices, type Pause } from '../../../kernel/pause.js'
import { linkOf, namesIn, piecesOf } from './bounded-reading.js'
import { MARK, OF_TERMINAL } from './program-families.js'
import { type ProcessEntry, readProcess, variableOf } from './process-table.js'

export interface AgentPrograms {
  has(pid: number): boolean
  /** Whether one of them holds the other end of a connection of this machine. */
  holds(peer: LocalPeer): Promise<boolean>
}

export interface AgentProgramsOptions {
  /** Generations looked at, connections of the machine in bytes, processes, and descriptors of each. */
  readonly most?: Readonly<Record<'ancestors' | 'table' | 'processes' | 'descriptors', number>>
  readonly monotonic?: () => number
  readonly pause?: Pause
}

/** Somebody who asks for the other end of a connection, and who is told. */
interface Question {
  readonly peer: LocalPeer
  readonly answer: (isOurs: boolean) => void
  readonly fail: (error: unknown) => void
}

/** Processes that were looked at in one look, and what was found of them. */
type Known = Map<number, boolean>

const MOST = { ancestors: 64, table: 8_000_000, processes: 8192, descriptors: 4096 }
/** I3 */
const ROUNDS = 4
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

export function createAgentPrograms(mark: string, options: AgentProgramsOptions = {}): AgentPrograms {
  const { most = MOST, monotonic = () => performance.now(), pause = createPause() } = options
  const carries = (pid: number) =>
    (variableOf(pid, MARK) ?? []).some((value) => value.startsWith(`${mark}.`) && !value.startsWith(`${mark}.${OF_TERMINAL}`))
  let waiting: Question[] = []
  let isLooking = false

  function isOurs(entry: ProcessEntry | undefined, known: Known, depth = 0): boolean {
    if (entry === undefined || entry.pid === process.pid || entry.pid <= 1) return false
    if (depth > most.ancestors) return true // I1
    const before = known.get(entry.pid)
    if (before !== undefined) return before
    known.set(entry.pid, false)
    const others = [entry.parent, entry.session].filter((pid) => pid !== entry.pid)
    const answer = carries(entry.pid) || others.some((pid) => known.get(pid) ?? isOurs(readProcess(pid), known, depth + 1))
    known.set(entry.pid, answer)
    return answer
  }

  /** Of those who ask, who is told that it is an agent; all of them where there is more than is read. */
  async function ofAgents(asked: readonly Question[]): Promise<ReadonlySet<Question>> {
    const breath = createSlices(monotonic, pause)
    const open = await socketsOf(asked, most.table, breath)
    if (open === undefined) return new Set(asked) // I1
    const found = new Set<Question>()
    if (open.size === 0) return found
    const known: Known = new Map()
    const seen = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const pids = namesIn('/proc', most.processes, (name) => /^\d+$/.test(name))
      if (pids === undefined) return new Set(asked) // I1
      const fresh = pids.filter((pid) => !seen.has(pid))
      if (fresh.length === 0 || found.size === asked.length) break
      for (const pid of fresh) {
        await breath() // I2
        seen.add(pid)
        const entry = readProcess(Number(pid))
        if (entry === undefined || !entry.runs || entry.isKernel || !isOurs(entry, known)) continue
        for (const question of await heldBy(entry.pid, open, breath)) found.add(question)
      }
    }
    return found
  }

  /** I1: of one with more descriptors than are looked at, any. */
  async function heldBy(pid: number, open: Open, breath: () => Promise<void> | undefined): Promise<readonly Question[]> {
    const path = `/proc/${pid}/fd`
    const names = namesIn(path, most.descriptors)
    if (names === undefined) return [...open.values()].flat()
    const held: Question[] = []
    for (const name of names) {
      await breath()
      held.push(...(open.get(linkOf(`${path}/${name}`)) ?? []))
    }
    return held
  }

  async function look(): Promise<void> {
    isLooking = true
    while (waiting.length > 0) {
      const asked = waiting
      waiting = []
      try {
        const found = await ofAgents(asked)
        for (const each of asked) each.answer(found.has(each))
      } catch (error) {
        for (const each of asked) each.fail(error)
      }
    }
    isLooking = false
  }

  return {
    has: (pid) => isOurs(readProcess(pid), new Map()),
    holds(peer) {
      return new Promise((answer, fail) => {
        waiting.push({ peer, answer, fail })
        if (!isLooking) void look()
      })
    },
  }
}

/** Descriptors that lead to the other ends, as the system names them. */
type Open = ReadonlyMap<string, readonly Question[]>

/** Undefined when the machine has more connections than are looked at. */
async function socketsOf(asked: readonly Question[], most: number, breath: () => Promise<void> | undefined): Promise<Open | undefined> {
  const byPorts = new Map<string, Question[]>()
  for (const question of asked) {
    const ports = `${hexOf(question.peer.port)} ${hexOf(question.peer.ourPort)}`
    byPorts.set(ports, [...(byPorts.get(ports) ?? []), question])
  }
  const sockets = new Map<string, readonly Question[]>()
  for (const table of TABLES) {
    let read = 0
    let rest = ''
    for (const piece of piecesOf(table)) {
      read += piece.length
      if (read > most) return undefined
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/)
        const questions = byPorts.get(`${portOf(local)} ${portOf(remote)}`)
        if (questions !== undefined) sockets.set(`socket:[${inode}]`, questions)
      }
      await breath() // I2
    }
  }
  return sockets
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1)
}

function hexOf(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
