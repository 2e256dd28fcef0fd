import { closeSync, readFileSync, readdirSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Closes descriptors that whoever started this server left open in it and that every program it starts would inherit
 * (threat-model C5); the runtime itself takes care of low numbers only. Call once, before anything else opens files;
 * returns how many were closed. The runtime's own are told apart by their close-on-exec flag. Linux only, elsewhere
 * nothing is known about them; a server started with a message channel to its parent keeps all. `kept` is one that was meant for it.
 */
export function closeInheritedDescriptors(kept?: number): number {
  if (process.platform !== 'linux' || process.channel !== undefined) return 0
  let closed = 0
  for (const name of readdirSync('/proc/self/fd')) {
    if (Number(name) > 2 && Number(name) !== kept && isInheritable(name)) {
      closeSync(Number(name))
      closed += 1
    }
  }
  return closed
}

/** Whether programs started by this one get a descriptor of it; false where nothing is known about it. */
export function isInheritable(descriptor: string): boolean {
  try {
    const flags = /(?<=^|\n)flags:\s*([0-7]+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    return false // the listing's own descriptor, closed by now
  }
}

const F_SETFD = 2
const FD_CLOEXEC = 1

/** Loads what takes a descriptor away from programs that are started later; rejects where that cannot be had. */
export async function loadCloseOnExec(): Promise<(descriptor: number) => void> {
  const { default: koffi } = await import('koffi')
  const fcntl = koffi.load(null).func('int fcntl(int, int, ...)') as (
    descriptor: number,
    command: number,
    ...value: ['int', number]
  ) => number
  return (descriptor) => {
    if (fcntl(descriptor, F_SETFD, 'int', FD_CLOEXEC) === -1) throw new Error(`The descriptor ${descriptor} stays open in other programs.`)
  }
}
