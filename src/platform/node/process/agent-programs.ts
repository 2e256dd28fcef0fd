/**
 * Which processes an agent has started: whoever carries a mark of this server, or descends from one that does, or is in its session.
 * Terminals are for people, and their marks say so. A hint and no boundary: a program may clear its environment and outlive its
 * parents (`program-families.ts`).
 *
 * I1 Bounded in what is read of the system. What is not found counts as nobody's; where there is more than is read, whoever asks counts as an
 *    agent, since otherwise a program would only have to make as much.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { LocalPeer } from '../../../ports/process-facts.js'
import { MARK, OF_TERMINAL } from './program-families.js'
import { type ProcessEntry, readProcess, readProcesses, variableOf } from './process-table.js'

export interface AgentPrograms {
  has(pid: number): boolean
  /** Whether one of them holds the other end of a connection of this machine. */
  holds(peer: LocalPeer): boolean
}

/** Generations looked at, connections of the machine in bytes, processes, and descriptors of each. */
const MOST: Readonly<Record<'ancestors' | 'table' | 'processes' | 'descriptors', number>> = {
  ancestors: 64,
  table: 8_000_000,
  processes: 8192,
  descriptors: 4096,
}
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

export function createAgentPrograms(mark: string, most: typeof MOST = MOST): AgentPrograms {
  const carries = (pid: number) =>
    (variableOf(pid, MARK) ?? []).some((value) => value.startsWith(`${mark}.`) && !value.startsWith(`${mark}.${OF_TERMINAL}`))

  function isOurs(entry: ProcessEntry | undefined, known: Map<number, boolean>, depth = 0): boolean {
    if (entry === undefined || entry.pid === process.pid || entry.pid <= 1) return false
    if (depth > most.ancestors) return true // I1
    const before = known.get(entry.pid)
    if (before !== undefined) return before
    known.set(entry.pid, false)
    const others = [entry.parent, entry.session].filter((pid) => pid !== entry.pid)
    const answer = carries(entry.pid) || others.some((pid) => isOurs(readProcess(pid), known, depth + 1))
    known.set(entry.pid, answer)
    return answer
  }

  return {
    has: (pid) => isOurs(readProcess(pid), new Map()),
    holds(peer) {
      const sockets = socketsOf(peer, most.table)
      if (sockets === undefined) return true // I1
      if (sockets.size === 0) return false
      if (countProcesses() > most.processes) return true // I1
      const known = new Map<number, boolean>()
      const entries = [...(readProcesses()?.values() ?? [])].filter(({ runs }) => runs)
      return entries.some((entry) => isOurs(entry, known) && mayHaveSocket(entry.pid, sockets, most.descriptors))
    },
  }
}

/** Descriptors that lead to the other end, as the system names them; undefined when it has more connections than are looked at. */
function socketsOf({ port, ourPort }: LocalPeer, most: number): ReadonlySet<string> | undefined {
  const sockets = new Set<string>()
  for (const table of TABLES) {
    const text = read(table)
    if (text.length > most) return undefined
    for (const line of text.split('\n')) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/)
      if (portOf(local) === port && portOf(remote) === ourPort) sockets.add(`socket:[${inode}]`)
    }
  }
  return sockets
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
}

/** Those of the kernel and those that have ended among them: nothing is read of any. */
function countProcesses(): number {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length
  } catch {
    return 0
  }
}

/** I1: true as well when it has more descriptors than are looked at. */
function mayHaveSocket(pid: number, sockets: ReadonlySet<string>, most: number): boolean {
  try {
    const names = readdirSync(`/proc/${pid}/fd`)
    return names.length > most || names.some((name) => sockets.has(linkOf(`/proc/${pid}/fd/${name}`)))
  } catch {
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
