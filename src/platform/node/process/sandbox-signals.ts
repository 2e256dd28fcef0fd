/**
 * Signals to a program in a sandbox. The sandbox is a process around it, and of its group: it would die of what the program outlives, and what
 * becomes of the program would be known to nobody.
 *
 * I1 A signal reaches who a signal to the group reaches, but for the sandbox. One that nobody outlives is for the sandbox, too.
 * I2 As a shell does, the sandbox tells a signal that has ended the program by 128 and its number: that is a signal again when it was sent.
 */
import { constants } from 'node:os'
import { signalGroup } from './group-signals.js'
import { readProcesses } from './process-table.js'

interface Ending {
  readonly exitCode: number | null
  readonly signal: string | null
}

interface SandboxSignals {
  /** False = there is nobody to send it to. */
  signal(name: NodeJS.Signals): boolean
  ending(ending: Ending): Ending
}

const SIGNALLED = 128

export function createSandboxSignals(sandbox: number): SandboxSignals {
  const sent = new Set<NodeJS.Signals>()
  return {
    signal(name) {
      sent.add(name)
      const inside = name === 'SIGKILL' ? [] : membersOf(sandbox)
      if (inside.length === 0) return signalGroup(sandbox, name) // before there is a program, or where no table tells of it
      return inside.filter((pid) => signalled(pid, name)).length > 0
    },
    ending({ exitCode, signal }) {
      const by = [...sent].find((name) => exitCode === SIGNALLED + constants.signals[name])
      return by === undefined ? { exitCode, signal } : { exitCode: null, signal: by }
    },
  }
}

function membersOf(sandbox: number): readonly number[] {
  const entries = readProcesses() ?? new Map<number, never>()
  return [...entries.values()].filter(({ pid, group, runs }) => group === sandbox && pid !== sandbox && runs).map(({ pid }) => pid)
}

function signalled(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false // it has ended meanwhile
  }
}
