/** Shells of this machine, and the one a terminal gets when nobody names a command (subsystems g). */
import * as z from 'zod'
import type { NativeHost } from '../../ports/plugin.js'
import type { Shell } from '../../protocol/terminal/pty.js'

/** Programs a person can work in. Others that are listed as shells (multiplexers, refusals to log in) are not. */
const ACCEPTABLE = new Set(['bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'mksh', 'ash', 'tcsh', 'csh'])
const LOGIN = new Set(['bash', 'zsh', 'fish'])
const COMMON = ['/bin/bash', '/usr/bin/bash', '/bin/zsh', '/usr/bin/zsh', '/usr/bin/fish', '/usr/local/bin/fish', '/bin/sh', '/usr/bin/sh']
const LISTED = '/etc/shells'
const LISTED_BYTES = 64 * 1024
const MOST = 64
const FALLBACK = '/bin/sh'
const EXECUTABLE = 0o111

type World = Pick<NativeHost['effects'], 'files' | 'childEnv'>

/** Every shell that is there, by path. */
export async function listShells(world: World): Promise<Shell[]> {
  const paths = new Set([...preferred(world), ...(await listedPaths(world))].slice(0, MOST))
  const found = await Promise.all([...paths].map(async (path) => ((await isProgram(world, path)) ? [shellOf(path)] : [])))
  const shells = found.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return shells.length > 0 ? shells : [shellOf(FALLBACK)]
}

const Configured = z.union([z.string().min(1), z.looseObject({ program: z.string().min(1), args: z.array(z.string()).optional() })])

/** The `shell` of a configuration as a command; undefined when there is none. */
export function configuredShell({ shell }: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { data } = Configured.safeParse(shell)
  if (data === undefined || typeof data === 'string') return data === undefined ? undefined : [data]
  return [data.program, ...(data.args ?? [])]
}

/** The configured shell where it is there, else the user's own, else the first of the common ones, as a login shell where it knows what that is. */
export async function defaultCommand(world: World, configured: readonly string[] | undefined): Promise<string[]> {
  const [program = '', ...args] = configured ?? []
  if (program.startsWith('/') ? await isProgram(world, program) : program !== '' && !program.includes('/')) return [program, ...args]
  for (const path of preferred(world)) {
    const { name, acceptable } = shellOf(path)
    if (acceptable && (await isProgram(world, path))) return LOGIN.has(name) ? [path, '-l'] : [path]
  }
  return [FALLBACK]
}

function preferred({ childEnv }: World): readonly string[] {
  const own = childEnv['SHELL']
  return own !== undefined && own.startsWith('/') ? [own, ...COMMON] : COMMON
}

async function listedPaths({ files }: World): Promise<readonly string[]> {
  try {
    const text = new TextDecoder().decode(await files.read(LISTED, LISTED_BYTES))
    return text.split('\n').filter((line) => line.startsWith('/'))
  } catch {
    return [] // many systems have no such list
  }
}

function shellOf(path: string): Shell {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, name, acceptable: ACCEPTABLE.has(name) }
}

async function isProgram({ files }: World, path: string): Promise<boolean> {
  const stat = await files.stat(path).catch(() => undefined)
  return stat?.kind === 'file' && (stat.mode & EXECUTABLE) !== 0
}
