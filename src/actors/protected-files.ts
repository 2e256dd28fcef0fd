/**
 * Files nobody changes without an explicit answer, whatever the allow rules say (threat-model G3): what
 * configures svc, what holds credentials, and what runs by itself later. Canonical paths only.
 */
import { isWithin } from '../protocol/caller.js'
import type { ProtectedFiles } from './plugin/native.js'

export interface ProtectedPlaces {
  readonly configDirectory: string
  readonly stateDirectory: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

type Place = readonly [path: string, reason: string]

const CONFIGURATION = 'svc configuration'
const STATE = 'the state of svc'
const START_UP = 'a start-up or credential file'

/** Relative to the home directory, each with everything below it. */
const HOME = `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc
  .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsessionrc .pam_environment .netrc .npmrc .yarnrc .pypirc .gitconfig .git-credentials
  .vimrc .tmux.conf .config/git .config/fish .config/environment.d .config/systemd .config/autostart .config/gh .config/nvim
  .docker .ssh .gnupg .aws .azure .config/gcloud .kube .svc Library/LaunchAgents`.split(/\s+/)
const SYSTEM = `/etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/environment /etc/zsh /etc/zshrc /etc/zshenv /etc/zprofile
  /etc/fish /etc/ssh /etc/sudoers /etc/sudoers.d /etc/cron.d /etc/crontab /etc/cron.daily /etc/cron.hourly /var/spool/cron /etc/systemd
  /etc/gitconfig /etc/passwd /etc/shadow`.split(/\s+/)
/** Environment variables that move a file or directory of svc. */
const MOVED: readonly Place[] = [
  ['SVC_AGENT_CONFIG', CONFIGURATION],
  ['SVC_AGENT_CONFIG_DIR', CONFIGURATION],
  ['SVC_AGENT_AUTH_CONFIG', 'the list of access tokens'],
  ['SVC_AGENT_AUTH_PATH', 'the credentials of svc'],
]

/** Files of a workspace that decide what runs, below any directory. */
const WORKSPACE: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)svc\.jsonc?$/, CONFIGURATION],
  [/(^|\/)\.svc(\/|$)/, CONFIGURATION],
  [/(^|\/)svc-plugin\.json$/, 'a plugin manifest'],
  [/(^|\/)\.git\/(config|config\.worktree|hooks|info|modules|worktrees)(\/|$)/, 'version-control settings'],
  [/(^|\/)\.git$/, 'version-control settings'],
  [/(^|\/)(\.husky|\.githooks)(\/|$)/, 'version-control hooks'],
]
/** What an agent may plan into (subsystems b.7). */
const PLANS = /(^|\/)\.svc\/plans\/[^/]+\.md$/

/** Case and Unicode composition are ignored, because file systems may ignore them too. */
export function createProtectedFiles({ configDirectory, stateDirectory, home, env }: ProtectedPlaces): ProtectedFiles {
  const places: Place[] = [
    [configDirectory, CONFIGURATION],
    [stateDirectory, STATE],
    ...MOVED.flatMap(([name, reason]): Place[] => (env[name]?.startsWith('/') === true ? [[withoutSlash(env[name]), reason]] : [])),
    ...HOME.map((name): Place => [`${home}/${name}`, START_UP]),
    ...SYSTEM.map((path): Place => [path, START_UP]),
  ]
  const folded = places.map(([path, reason]): Place => [fold(path), reason])
  /** Whole outputs of tools, which the model is told to read. */
  const outputs = fold(`${stateDirectory}/tool-output`)
  const statePlans = fold(`${stateDirectory}/plans`)
  return {
    reason(canonicalPath) {
      const path = fold(canonicalPath)
      if (isWithin(outputs, path) || (isWithin(statePlans, path) && path.endsWith('.md'))) return undefined
      const place = folded.find(([root]) => isWithin(root, path))
      if (place !== undefined) return place[1]
      const holds = folded.find(([root]) => isWithin(path, root))
      if (holds !== undefined) return `a directory that holds ${holds[1]}`
      return PLANS.test(path) ? undefined : WORKSPACE.find(([pattern]) => pattern.test(path))?.[1]
    },
  }
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, '')
}
