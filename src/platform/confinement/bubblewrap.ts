/**
 * Bubblewrap on Linux, nothing elsewhere: whether it works here, and the command lines that it takes.
 *
 * I1 Whether it works is found out once, by running it, separately with and without the network.
 */
import { dirname } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import { toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../../ports/effects.js'

export type SandboxEffects = Pick<Effects, 'processes' | 'files' | 'platform' | 'childEnv'>

type Found = { readonly bwrap: string } | { readonly missing: string }

export interface Bubblewrap {
  /** Where it is, or a sentence for people why it cannot be used. Never rejects. */
  find(network: boolean): Promise<Found>
}

export interface BubblewrapOptions {
  /** A command line that shows whether it works, given its own path. */
  readonly trial: (bwrap: string, network: boolean) => Promise<readonly string[]>
  /** What to do where it is not installed. */
  readonly advice: string
  /** Told once for each setting of the network. */
  readonly onFailure?: (reason: string, network: boolean) => void
}

export function createBubblewrap(effects: SandboxEffects, { trial, advice, onFailure }: BubblewrapOptions): Bubblewrap {
  const probes = new Map<boolean, Promise<string | undefined>>()
  const probe = (bwrap: string, network: boolean) => {
    const known = probes.get(network)
    if (known !== undefined) return known
    const started = whyItFails(effects, bwrap, () => trial(bwrap, network)).then((failure) => {
      if (failure !== undefined) onFailure?.(failure, network)
      return failure
    })
    probes.set(network, started) // I1
    return started
  }
  return {
    async find(network) {
      const { os } = effects.platform
      if (os !== 'linux') return { missing: 'there is none on this system: it needs Linux with bubblewrap' }
      const bwrap = await effects.processes.find('bwrap')
      if (bwrap === undefined) return { missing: `bubblewrap (bwrap) is not installed; ${advice}` }
      const failure = await probe(bwrap, network)
      return failure === undefined ? { bwrap } : { missing: failure }
    },
  }
}

export interface Mount {
  readonly at: string
  readonly args: readonly string[]
}

export interface Line {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly network: boolean
  readonly mounts: readonly Mount[]
}

/** A server that runs as root would keep all its capabilities inside, so they are dropped by name. */
const ISOLATION = '--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL --setenv TMPDIR /tmp'.split(' ')

/** The arguments of bubblewrap up to and including the program, whose root holds the mounts and nothing else. */
export function bubblewrapLine({ program, args, cwd, network, mounts }: Line): readonly string[] {
  return [
    ...ISOLATION,
    ...(network ? [] : ['--unshare-net']),
    ...mounts.toSorted((a, b) => depth(a.at) - depth(b.at)).flatMap((mount) => mount.args),
    '--remount-ro',
    '/',
    '--chdir',
    cwd,
    '--',
    program,
    ...args,
  ]
}

/**
 * What every sandbox has of its own. User 0 may change settings of the kernel by their owner alone, without any
 * capability; one of them names a program that the kernel starts: so `/proc` is read-only.
 */
export const OWN: readonly Mount[] = [
  { at: '/tmp', args: ['--tmpfs', '/tmp'] },
  { at: '/proc', args: ['--proc', '/proc', '--remount-ro', '/proc'] },
  { at: '/dev', args: ['--dev', '/dev'] },
]

/** Where the system keeps its programs. */
export const PROGRAMS = ['/usr', '/bin', '/lib', '/lib64']

export function readOnly(path: string, from = path): Mount {
  return { at: path, args: ['--ro-bind', from, path] }
}

export function writable(path: string): Mount {
  return { at: path, args: ['--bind', path, path] }
}

/** A part of the system as it is: bound, or the link that it is where `/bin` and its like are links into `/usr`. */
export async function systemMount({ files }: Pick<Effects, 'files'>, path: string): Promise<Mount[]> {
  const target = await files.realPath(path).catch(() => undefined)
  if (target === undefined) return []
  const isLinkIntoSystem = target !== path && PROGRAMS.some((root) => root !== path && isWithin(root, target))
  return isLinkIntoSystem ? [{ at: path, args: ['--symlink', target, path] }] : [readOnly(path, target)]
}

/** Where the program is called and where it really is. */
export async function directoriesOf({ files }: Pick<Effects, 'files'>, program: string): Promise<readonly string[]> {
  const target = await files.realPath(program).catch(() => program)
  return [...new Set([dirname(program), dirname(target)])]
}

/** Parents come before what is mounted inside them. */
function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}

const TRIAL_TIMEOUT = 10_000

/** Undefined when the trial works, else why not. */
async function whyItFails(
  { processes, childEnv }: SandboxEffects,
  bwrap: string,
  trial: () => Promise<readonly string[]>,
): Promise<string | undefined> {
  try {
    const result = await processes.run({
      command: bwrap,
      args: await trial(),
      cwd: '/',
      env: childEnv,
      signal: new AbortController().signal,
      timeoutMs: TRIAL_TIMEOUT,
      captureBytes: LIMITS.plugins.operationBytes,
    })
    if (result.exitCode === 0) return undefined
    const said = result.stderr.split('\n', 1)[0]?.trim()
    return `bubblewrap (${bwrap}) does not work here: ${said || (result.timedOut ? 'it did not answer' : `it ended with ${result.exitCode ?? result.signal}`)}`
  } catch (error) {
    return `bubblewrap (${bwrap}) does not work here: ${toFailure(error).message}`
  }
}
