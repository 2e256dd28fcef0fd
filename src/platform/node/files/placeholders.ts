/**
 * Entries that take a name while a program in the sandbox runs: only what is there can be mounted read-only (bubblewrap would
 * make it, and leave it). Directories are the least that others notice: git shows no empty ones, and a file of that name is not
 * there. Where a directory would tell tools of another version control, it is a socket without a listener.
 *
 * I1 A name that is taken is left as it is. Only what this server made is removed, and a directory only while it is empty.
 * I2 Several programs share an entry; it goes with the last of them.
 * I3 The reaper is told before anything is made, and removes it when this server was killed. What both have left is known by its
 *    time, and belongs to whoever needs the name next; that of a server which runs is left to it.
 * I4 As many may hold something as programs may run; who lets go is never refused.
 */
import { chmod, lstat, mkdir, open, rename, rmdir, unlink, utimes } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import { createLane } from '../../../kernel/lane.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Placeholder } from '../../../ports/process-facts.js'

export interface Placeholders {
  /** Makes those that are absent. Answers what lets go of them; rejects, with nothing left, when one cannot be made. */
  hold(wanted: readonly Placeholder[]): Promise<() => Promise<void>>
}

export interface PlaceholderKeeper {
  keep(paths: readonly string[]): Promise<void>
  drop(paths: readonly string[]): void
}

/** Seconds of a time nothing else has (1971), and beyond them the process that made it. */
const TIME = 31_536_000
const MOST_PROCESSES = 8_388_608
/** Programs that run, or are about to. */
const MOST = 4096
/** Nobody writes into one by mistake. */
const CLOSED = 0o555

export function createPlaceholders(keeper: PlaceholderKeeper, most = MOST): Placeholders {
  const uses = new Map<string, number>()
  /** Each holder wants one thing at a time. */
  const lane = createLane({ most })
  let holders = 0

  async function take(wanted: readonly Placeholder[]): Promise<readonly string[]> {
    const taken: string[] = []
    const isFree = async (path: string) => uses.has(path) || !(await isThere(path)) || (await isLeft(path))
    const free = (await Promise.all(wanted.map(async (each) => ((await isFree(each.path)) ? [each] : [])))).flat() // I1
    await keeper.keep(free.filter(({ path }) => !uses.has(path)).map(({ path }) => path)) // I3
    try {
      for (const each of free) {
        const isOurs = uses.has(each.path) || (await isLeft(each.path)) || (await make(each))
        if (!isOurs) continue
        uses.set(each.path, (uses.get(each.path) ?? 0) + 1) // I2
        taken.push(each.path)
      }
      for (const { path } of free.filter((each) => each.kind === 'directory' && taken.includes(each.path))) await sign(path)
      return taken
    } catch (error) {
      await give(taken)
      throw error
    } finally {
      keeper.drop(free.filter(({ path }) => !uses.has(path)).map(({ path }) => path))
    }
  }

  async function give(taken: readonly string[]): Promise<void> {
    const gone: string[] = []
    for (const path of taken.toReversed()) {
      const left = (uses.get(path) ?? 1) - 1
      if (left > 0) uses.set(path, left)
      else {
        uses.delete(path)
        gone.push(path)
        await removeOwn(path)
      }
    }
    keeper.drop(gone)
  }

  return {
    async hold(wanted) {
      if (holders >= most) throw new SvcError('quota.exceeded', `${most} programs run already; try again in a moment.`) // I4
      holders += 1
      const left = () => void (holders -= 1)
      const taken = await lane
        .run(() => take(wanted))
        .catch((error: unknown) => {
          left()
          throw error
        })
      return () => lane.run(() => give(taken)).finally(left)
    },
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** False when the name is taken. */
async function make({ path, kind, isOpen }: Placeholder): Promise<boolean> {
  try {
    if (kind === 'socket') return await makeSocket(path)
    await mkdir(path)
    if (isOpen !== true) await chmod(path, CLOSED)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Under another name first: a socket goes with its listener, and what was renamed stays. Its path would be too long for the system. */
async function makeSocket(path: string): Promise<boolean> {
  if ((await lstat(path).catch(() => undefined)) !== undefined) return false
  const directory = await open(dirname(path))
  try {
    const before = `/proc/self/fd/${directory.fd}/${basename(path)}.svc-${process.pid}`
    const listener = createServer()
    await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(before, resolve))
    await rename(before, path)
    await new Promise((resolve) => listener.close(resolve))
    return true
  } finally {
    await directory.close()
  }
}

/** I3. Last: what is made in it changes its time. */
async function sign(path: string): Promise<void> {
  const seconds = TIME + (process.pid % MOST_PROCESSES)
  await utimes(path, seconds, seconds)
}

async function isLeft(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined || stat.uid !== process.getuid?.()) return false
  const maker = Math.floor(stat.mtimeMs / 1000) - TIME
  return stat.isDirectory() && maker > 0 && maker < MOST_PROCESSES && maker !== process.pid && !runs(maker)
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

/** I1 */
async function removeOwn(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat?.isDirectory() === true) await rmdir(path).catch(() => undefined)
  else if (stat?.isSocket() === true) await unlink(path).catch(() => undefined)
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
