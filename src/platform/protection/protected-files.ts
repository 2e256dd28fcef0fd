/**
 * Files nobody changes without an explicit answer, whatever the allow rules say (threat-model G3): what
 * configures svc, what holds credentials, and what runs by itself later. Canonical paths only.
 */
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'
import { createFindShape } from '../git/shape.js'
import type { ProtectedFiles } from '../../ports/plugin.js'
import { createFindLead } from './protected-leads.js'
import { IN_HOME, IN_SYSTEM, IN_WORKSPACES } from './protected-places.js'

export interface ProtectedPlaces {
  readonly configDirectory: string
  readonly stateDirectory: string
  /** Holds programs of plugins and compiled code, which svc runs. */
  readonly cacheDirectory: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly files: Pick<Effects['files'], 'stat' | 'entry' | 'readLink'>
}

type Place = readonly [path: string, reason: string]

const CONFIGURATION = 'svc configuration'
const START_UP = 'a start-up or credential file'
/** Environment variables that move a file or directory of svc. */
const MOVED: readonly Place[] = [
  ['SVC_AGENT_CONFIG', CONFIGURATION],
  ['SVC_AGENT_CONFIG_DIR', CONFIGURATION],
  ['SVC_AGENT_AUTH_CONFIG', 'the list of access tokens'],
  ['SVC_AGENT_AUTH_PATH', 'the credentials of svc'],
]
/** What an agent may plan into (subsystems b.7). */
const PLANS = /(^|\/)\.svc\/plans\/[^/]+\.md$/
/** Left out of names by some file systems. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

const WORKSPACE = IN_WORKSPACES.map(([pattern, reason]) => ({
  matches: expressionOf(pattern),
  isExact: /^[A-Z]+$/.test(pattern),
  reason,
}))

export function createProtectedFiles(where: ProtectedPlaces): ProtectedFiles {
  const { configDirectory, stateDirectory, cacheDirectory, home, env, files } = where
  const places: Place[] = [
    [configDirectory, CONFIGURATION],
    [stateDirectory, 'the state of svc'],
    [cacheDirectory, 'code that svc runs'],
    ...MOVED.flatMap(([name, reason]): Place[] => (env[name]?.startsWith('/') === true ? [[withoutSlash(env[name]), reason]] : [])),
    ...IN_HOME.map((name): Place => [`${home}/${name}`, START_UP]),
    ...IN_SYSTEM.map((path): Place => [path, START_UP]),
  ]
  /** Made when the first path is looked at: a start needs none of it. */
  let made: readonly Place[] | undefined
  const folded = () => (made ??= places.map(([path, reason]): Place => [fold(path), reason]))
  /** Whole outputs of tools, which the model is told to read. */
  const outputs = () => fold(`${stateDirectory}/tool-output`)
  const statePlans = () => fold(`${stateDirectory}/plans`)

  function byName(canonicalPath: string): string | undefined {
    const path = fold(canonicalPath)
    const place = folded().find(([root]) => isWithin(root, path))
    if (place !== undefined) return place[1]
    const holds = folded().find(([root]) => isWithin(path, root))
    if (holds !== undefined) return `a directory that holds ${holds[1]}`
    if (PLANS.test(path)) return undefined
    return WORKSPACE.find(({ matches, isExact }) => matches.test(isExact ? canonicalPath : path))?.reason
  }

  function isLeftAlone(canonicalPath: string): boolean {
    const path = fold(canonicalPath)
    return isWithin(outputs(), path) || (isWithin(statePlans(), path) && path.endsWith('.md'))
  }

  return {
    async reasons(paths) {
      const shapeOf = createFindShape(files, paths)
      const leadTo = createFindLead(files, places)
      const reasons: (string | undefined)[] = []
      for (const path of paths) {
        const named = isLeftAlone(path) ? undefined : byName(path)
        if (named !== undefined || isLeftAlone(path)) {
          reasons.push(named)
          continue
        }
        const shape = await shapeOf(path)
        const lead = shape === undefined ? await leadTo(path) : undefined
        reasons.push(shape === undefined ? lead : `part of ${shape}, which git takes for a repository`)
      }
      return reasons
    },
  }
}

function expressionOf(pattern: string): RegExp {
  const isTree = pattern.endsWith('/**')
  const name = (isTree ? pattern.slice(0, -3) : pattern).replaceAll(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')
  return new RegExp(`(?:^|/)${name}${isTree ? '(?:/|$)' : '$'}`)
}

/** What file systems may ignore makes no difference: case, composition, marks without width; and of Windows, trailing dots and short names. */
function fold(path: string): string {
  const names = path.normalize('NFKC').toLowerCase().replaceAll(IGNORED, '').split('/')
  return names
    .map((name) =>
      name
        .replace(/:.*$/s, '')
        .replace(/(?<=[^. ])[. ]+$/, '')
        .replace(/^git~\d+$/, '.git'),
    )
    .join('/')
}

function withoutSlash(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end--
  return path.slice(0, end)
}
