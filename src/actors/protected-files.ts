/** Files nobody changes without an explicit answer, whatever the allow rules say (threat-model G3). Canonical paths only. */
import { isWithin } from '../protocol/caller.js'
import type { ProtectedFiles } from './plugin/native.js'

export interface ProtectedPlaces {
  readonly configDirectory: string
  readonly stateDirectory: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Start-up files of shells and programs, relative to the home directory. */
const HOME_FILES = new Set(
  '.bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .inputrc .netrc .npmrc .pypirc .gitconfig .git-credentials .config/git/config .config/fish/config.fish .docker/config.json'.split(
    ' ',
  ),
)
const HOME_DIRECTORIES = ['.ssh', '.gnupg', '.aws', '.kube', '.svc', '.config/systemd', '.config/autostart', '.config/fish']

/** Files of a workspace that decide what runs, by path below any directory. */
const WORKSPACE: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)svc\.jsonc?$/, 'svc configuration'],
  [/(^|\/)\.svc(\/|$)/, 'svc configuration'],
  [/(^|\/)svc-plugin\.json$/, 'a plugin manifest'],
  [/(^|\/)\.git\/(config|hooks|info|modules|worktrees)(\/|$)/, 'version-control settings'],
  [/(^|\/)\.git$/, 'version-control settings'],
]

/** Case is ignored, because file systems may ignore it too. */
export function createProtectedFiles({ configDirectory, stateDirectory, home, env }: ProtectedPlaces): ProtectedFiles {
  const override = env['SVC_AGENT_CONFIG_DIR']
  const roots: (readonly [string, string])[] = [
    [configDirectory, 'svc configuration'],
    [stateDirectory, 'the state of svc'],
    ...(override === undefined || override === '' ? [] : [[override, 'svc configuration'] as const]),
    ...HOME_DIRECTORIES.map((name) => [`${home}/${name}`, 'credentials or start-up files'] as const),
  ]
  const folded = roots.map(([root, reason]) => [root.toLowerCase(), reason] as const)
  /** Whole outputs of tools, which the model is told to read. */
  const outputs = `${stateDirectory}/tool-output`.toLowerCase()
  const files = new Set([...HOME_FILES].map((name) => `${home}/${name}`.toLowerCase()))
  return {
    reason(canonicalPath) {
      const path = canonicalPath.toLowerCase()
      if (isWithin(outputs, path)) return undefined
      if (files.has(path)) return 'a start-up or credential file'
      return folded.find(([root]) => isWithin(root, path))?.[1] ?? WORKSPACE.find(([pattern]) => pattern.test(path))?.[1]
    },
  }
}
