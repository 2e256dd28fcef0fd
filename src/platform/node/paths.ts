/** Where svc keeps its files. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Paths } from '../../ports/effects.js'
import type { Environment } from './environment.js'

/** Directories by the XDG rules, which ignore relative values; `SVC_AGENT_STATE_DIR` and `SVC_AGENT_CACHE_DIR` come first. */
export function nodePaths(env: Environment): Paths {
  const cwd = process.cwd()
  const home = absolute(env['HOME']) ?? homedir()
  const ours = (variable: string, xdg: string, fallback: string) => {
    const chosen = env[variable]
    return chosen ? resolve(cwd, chosen) : join(absolute(env[xdg]) ?? join(home, fallback), 'svc')
  }
  return {
    home,
    temp: absolute(env['TMPDIR']) ?? '/tmp',
    config: join(absolute(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'svc'),
    state: ours('SVC_AGENT_STATE_DIR', 'XDG_STATE_HOME', '.local/state'),
    cache: ours('SVC_AGENT_CACHE_DIR', 'XDG_CACHE_HOME', '.cache'),
    cwd,
  }
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
