/**
 * The sandbox of plugin processes: bubblewrap on Linux, nothing elsewhere (plugin-protocol §9.4).
 *
 * I1 `required` never starts a program outside the sandbox; `auto` does where there is none, or where it cannot work,
 *    and that is logged, and told with the plugin.
 * I2 The end of the bubblewrap process ends everything inside: it is the parent of the first process of its own process
 *    namespace, so ending the group that it was started in is enough, whatever sessions were opened inside.
 */
import { dirname } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { isToolsId } from '../../../protocol/plugin/tool-files.js'
import type { Effects } from '../../../ports/effects.js'
import {
  bubblewrapLine,
  createBubblewrap,
  directoriesOf,
  type Mount,
  OWN,
  PROGRAMS,
  readOnly,
  type SandboxEffects,
  systemMount,
} from '../../../platform/confinement/bubblewrap.js'

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

interface Wrapping {
  readonly program: string
  readonly args: readonly string[]
  /** Why it runs without the sandbox that it would have, for people. */
  readonly uncontained?: string
}

type Wrapped = Wrapping | { readonly unavailable: string }

export interface Sandbox {
  /** The command line that runs the program under the policy, or a sentence for people why it may not run. Never rejects. */
  wrap(policy: SandboxPolicy, program: SandboxedProgram): Promise<Wrapped>
}

/** The policy of one plugin: what its entry says, else that of the installation. */
export function sandboxPolicy(sandbox: boolean | undefined, env: Readonly<Record<string, string | undefined>>): SandboxPolicy {
  if ((env['SVC_AGENT_AUTH_CONFIG'] ?? '') !== '') return 'required' // Tenants share it (decision 42).
  if (sandbox !== undefined) return sandbox ? 'required' : 'off'
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

/** The same of a package: tools are for the files and programs of a project, and are contained where that is asked for alone (decision 076). */
export function packagePolicy(packageId: string, ...asked: Parameters<typeof sandboxPolicy>): SandboxPolicy {
  const policy = sandboxPolicy(...asked)
  return policy === 'auto' && isToolsId(packageId) ? 'off' : policy
}

/** One for the whole server. */
export function createSandbox(effects: SandboxEffects & Pick<Effects, 'log'>): Sandbox {
  const bubblewrap = createBubblewrap(effects, {
    // Bubblewrap inside itself, which exists for certain.
    trial: (bwrap, network) => bubblewrapArgs(effects, { program: bwrap, args: ['--version'], cwd: dirname(bwrap), network }),
    advice: 'install the package "bubblewrap", or set "sandbox": false for a plugin that may run without it',
    onFailure: (reason, network) => effects.log.warn('plugins that do not require a sandbox run without one', { network, reason }),
  })
  return {
    async wrap(policy, program) {
      const plain = { program: program.program, args: program.args }
      if (policy === 'off') return plain
      const found = await bubblewrap.find(program.network)
      if ('bwrap' in found) return { program: found.bwrap, args: await bubblewrapArgs(effects, program) }
      if (policy === 'auto') return { ...plain, uncontained: found.missing } // I1
      return { unavailable: `sandbox required but ${found.missing}` }
    },
  }
}

/** The arguments of bubblewrap up to and including the program: what plugin-protocol §9.4 lists, and `/proc` read-only. */
export async function bubblewrapArgs(effects: Pick<Effects, 'files'>, spec: SandboxedProgram): Promise<readonly string[]> {
  const { program, cwd, reads = [] } = spec
  const mounts: Mount[] = [...(await Promise.all(SYSTEM.map((path) => systemMount(effects, path)))).flat(), ...OWN, readOnly(cwd)]
  const own = (await directoriesOf(effects, program)).map(installationOf)
  for (const path of new Set([...own, ...reads])) {
    if (![...PROGRAMS, cwd].some((root) => isWithin(root, path))) mounts.push(readOnly(path))
  }
  return ['--new-session', '--die-with-parent', ...bubblewrapLine({ ...spec, mounts })]
}

/** Directories that managers of versions keep interpreters, their libraries and what chooses among them in; nothing else is there. */
const MANAGERS = new Set('.pyenv .rbenv .nodenv .jenv .goenv .asdf .volta .nvm .rvm .sdkman .fnm fnm mise uv'.split(' '))

/** The whole of the manager a program belongs to: a shim without it finds no interpreter, and an interpreter no library. */
function installationOf(directory: string): string {
  const parts = directory.split('/')
  const at = parts.findIndex((part) => MANAGERS.has(part))
  if (at > 0) return parts.slice(0, at + 1).join('/')
  return parts.at(-1) === 'shims' && parts.length > 2 ? parts.slice(0, -1).join('/') : directory
}

const SYSTEM = [...PROGRAMS, '/etc/ssl', '/etc/resolv.conf']
