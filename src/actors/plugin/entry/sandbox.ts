/**
 * The sandbox of plugin processes: bubblewrap on Linux, nothing elsewhere (plugin-protocol §9.4).
 *
 * I1 `required` never starts a program outside the sandbox; `auto` does where there is none, or where it cannot work.
 * I2 Whether it works is found out once, by running it, separately with and without the network; a failure is logged.
 * I3 The end of the bubblewrap process ends everything inside: it is the parent of the first process of its own process
 *    namespace, so ending the group that it was started in is enough, whatever sessions were opened inside.
 */
import { dirname } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../effects.js'

export type SandboxPolicy = 'off' | 'auto' | 'required'

export interface SandboxedProgram {
  /** Absolute path. */
  readonly program: string
  readonly args: readonly string[]
  /** Absolute working directory; readable inside. */
  readonly cwd: string
  readonly network: boolean
  /** Further absolute paths the program has to read, such as the directory of its script. */
  readonly reads?: readonly string[]
}

type Wrapped = { readonly program: string; readonly args: readonly string[] } | { readonly unavailable: string }

export interface Sandbox {
  /** The command line that runs the program under the policy, or a sentence for people why it may not run. Never rejects. */
  wrap(policy: SandboxPolicy, program: SandboxedProgram): Promise<Wrapped>
}

type SandboxEffects = Pick<Effects, 'processes' | 'files' | 'platform' | 'childEnv' | 'log'>

/** The policy of one plugin: what its entry says, else that of the installation. */
export function sandboxPolicy(sandbox: boolean | undefined, env: Readonly<Record<string, string | undefined>>): SandboxPolicy {
  if (sandbox !== undefined) return sandbox ? 'required' : 'off'
  if (isSet(env['SVC_AGENT_AUTH_CONFIG'])) return 'required'
  switch (env['SVC_AGENT_PLUGIN_SANDBOX']?.toLowerCase()) {
    case 'required':
    case '1':
    case 'true':
      return 'required'
    case 'off':
    case '0':
    case 'false':
      return 'off'
    default:
      return 'auto'
  }
}

/** One for the whole server. */
export function createSandbox(effects: SandboxEffects): Sandbox {
  const probes = new Map<boolean, Promise<string | undefined>>()
  const probe = (bwrap: string, network: boolean) => {
    const known = probes.get(network)
    if (known !== undefined) return known
    const started = (async () => {
      const failure = await whyItFails(effects, bwrap, network)
      if (failure !== undefined) effects.log.warn('plugins that do not require a sandbox run without one', { network, reason: failure })
      return failure
    })()
    probes.set(network, started) // I2
    return started
  }

  return {
    async wrap(policy, program) {
      const plain = { program: program.program, args: program.args }
      if (policy === 'off') return plain
      const bwrap = effects.platform.os === 'linux' ? await effects.processes.find('bwrap') : undefined
      const failure = bwrap === undefined ? absence(effects.platform.os) : await probe(bwrap, program.network)
      if (bwrap !== undefined && failure === undefined) return { program: bwrap, args: await bubblewrapArgs(effects, program) }
      if (policy === 'auto') return plain // I1
      return { unavailable: `sandbox required but ${failure}` }
    },
  }
}

/** The arguments of bubblewrap up to and including the program: what plugin-protocol §9.4 lists, and `/proc` read-only. */
export async function bubblewrapArgs(effects: Pick<Effects, 'files'>, spec: SandboxedProgram): Promise<readonly string[]> {
  const { program, args, cwd, network, reads = [] } = spec
  const mounts: Mount[] = [
    ...(await Promise.all(SYSTEM.map((path) => systemMount(effects, path)))).flat(),
    { at: '/tmp', args: ['--tmpfs', '/tmp'] },
    PROC,
    { at: '/dev', args: ['--dev', '/dev'] },
    readOnly(cwd),
  ]
  for (const path of [...(await directoriesOf(effects, program)), ...reads]) {
    if (![...PROGRAMS, cwd].some((root) => isWithin(root, path))) mounts.push(readOnly(path))
  }
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

/** A server that runs as root would keep all its capabilities inside, so they are dropped by name. */
const ISOLATION =
  '--new-session --die-with-parent --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL --setenv TMPDIR /tmp'.split(
    ' ',
  )

interface Mount {
  readonly at: string
  readonly args: readonly string[]
}

/** User 0 may change settings of the kernel by their owner alone, without any capability; one of them names a program that the kernel starts. */
const PROC: Mount = { at: '/proc', args: ['--proc', '/proc', '--remount-ro', '/proc'] }

const PROGRAMS = ['/usr', '/bin', '/lib', '/lib64']
const SYSTEM = [...PROGRAMS, '/etc/ssl', '/etc/resolv.conf']

function readOnly(path: string, from = path): Mount {
  return { at: path, args: ['--ro-bind', from, path] }
}

/** A part of the system as it is: bound, or the link that it is where `/bin` and its like are links into `/usr`. */
async function systemMount({ files }: Pick<Effects, 'files'>, path: string): Promise<Mount[]> {
  const target = await files.realPath(path).catch(() => undefined)
  if (target === undefined) return []
  const isLinkIntoSystem = target !== path && PROGRAMS.some((root) => root !== path && isWithin(root, target))
  return isLinkIntoSystem ? [{ at: path, args: ['--symlink', target, path] }] : [readOnly(path, target)]
}

/** Where the program is called and where it really is. */
async function directoriesOf({ files }: Pick<Effects, 'files'>, program: string): Promise<readonly string[]> {
  const target = await files.realPath(program).catch(() => program)
  return [...new Set([dirname(program), dirname(target)])]
}

/** Parents come before what is mounted inside them. */
function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}

function absence(os: string): string {
  if (os !== 'linux') return 'there is none on this system: it needs Linux with bubblewrap'
  return 'bubblewrap (bwrap) is not installed; install the package "bubblewrap", or set "sandbox": false for a plugin that may run without it'
}

const PROBE_TIMEOUT = 10_000

/** Runs bubblewrap inside itself, which exists for certain: undefined when that works, else why not. */
async function whyItFails(effects: SandboxEffects, bwrap: string, network: boolean): Promise<string | undefined> {
  try {
    const args = await bubblewrapArgs(effects, { program: bwrap, args: ['--version'], cwd: dirname(bwrap), network })
    const result = await effects.processes.run({
      command: bwrap,
      args,
      cwd: '/',
      env: effects.childEnv,
      signal: new AbortController().signal,
      timeoutMs: PROBE_TIMEOUT,
      captureBytes: LIMITS.plugins.operationBytes,
    })
    if (result.exitCode === 0) return undefined
    const said = result.stderr.split('\n', 1)[0]?.trim()
    return `bubblewrap (${bwrap}) does not work here: ${said || (result.timedOut ? 'it did not answer' : `it ended with ${result.exitCode ?? result.signal}`)}`
  } catch (error) {
    return `bubblewrap (${bwrap}) does not work here: ${toFailure(error).message}`
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}
